/*
 * Types and macros that programs written for key-value-system 0.1 expect. Part of libkvs, the
 * library of that interface on the Esker engine: MIT or Apache-2.0, at your choice.
 */
#ifndef KVS_TYPE
#define KVS_TYPE

#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#ifndef _LARGEFILE_SOURCE
#define _LARGEFILE_SOURCE
#endif
#ifndef _LARGEFILE64_SOURCE
#define _LARGEFILE64_SOURCE
#endif

/* For gettimeofday, which programs of that time call without including it. */
#include <sys/time.h>

enum init_enum {
    INIT_TYPE_CREATE, /* begin with an empty store; one that is there is removed */
    INIT_TYPE_LOAD    /* go on with the store that is there */
};

/* States of a value inside the original library; here for programs that name them. */
enum state_t {
    p_unavail,
    p_flushed,
    p_not_flush
};

typedef int PTR_KW;
typedef char *PTR_BUF;
typedef int INIT_TYPE;
typedef int HASH;

/* 64 bits on every machine. C89 has no such type, and compilers have it all the same. */
#if defined(__GNUC__)
__extension__ typedef long long OFFSET_T;
#else
typedef long long OFFSET_T;
#endif

#endif /* KVS_TYPE */
