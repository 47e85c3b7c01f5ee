/*
 * A program as they were written in 2012: nothing included but this, the time taken by functions
 * that nobody declared, a buffer that has room for the value and for nothing behind it.
 */
#include <kvs.h>
#include <stdio.h>
#include <stdlib.h>

#define NUM 300
#define SIZE 102400

int make_key(char *key, int i)
{
	int size = 0;
	do {
		key[size++] = '0' + i % 10;
		i /= 10;
	} while (i > 0);
	key[size] = 0;
	return size;
}

int main()
{
	KVS_ENV kvs_env;
	char key[16];
	char *value = malloc(SIZE), *buf = malloc(SIZE);
	int i, j, key_size, buf_size;
	struct timeval start, end;
	long long int total = 0;

	kvs_env.init_type = INIT_TYPE_CREATE;
	kvs_env.disk_file_path = "disk_file";
	kvs_env.IMAGE_file_path = "IMAGE_file";
	kvs_env.log_file_path = NULL;
	kvs_env.buffer_sleep_time = 0;
	kvs_env.buffer_horizon_size = 100 * 1024 * 1024;
	kvs_env.buffer_size = 700 * 1024 * 1024;
	if (kv_init(&kvs_env) != 0) {
		printf("kv_init fail\n");
		return 1;
	}
	for (i = 0; i < SIZE; i++)
		value[i] = 'a';
	for (i = 0; i < NUM; i++) {
		key_size = make_key(key, i);
		gettimeofday(&start, NULL);
		if (kv_put(key, key_size, value, SIZE) != 0) {
			printf("kv_put fail\n");
			return 1;
		}
		gettimeofday(&end, NULL);
		total += (end.tv_sec - start.tv_sec) * 1000 + (end.tv_usec - start.tv_usec) / 1000;
	}
	printf("back time: %lld ms\n", total);
	kv_exit();

	kvs_env.init_type = INIT_TYPE_LOAD;
	if (kv_init(&kvs_env) != 0) {
		printf("kv_init fail\n");
		return 1;
	}
	for (i = 0; i < NUM; i++) {
		key_size = make_key(key, (i * 7) % NUM);
		buf_size = SIZE;
		if (kv_get(key, key_size, buf, &buf_size) != 0 || buf_size != SIZE) {
			printf("kv_get fail\n");
			return 1;
		}
		for (j = 0; j < SIZE; j++)
			if (buf[j] != 'a')
				return 1;
	}
	kv_exit();
	free(buf);
	free(value);
	return 0;
}
