// Tables of INFORMATION_SCHEMA: what of the catalogue and of prepared transactions can be asked.
//
// | table              | a row for each                                                       |
// |--------------------|----------------------------------------------------------------------|
// | ESKER_KEYSPACES    | table or partition: its keyspace, what it takes, and its settings    |
// | ESKER_PREPARED     | transaction that is prepared and not ended                           |

#ifndef ESKER_SCHEMA_TABLES_H
#define ESKER_SCHEMA_TABLES_H

#include "server.h"

namespace esker {

// What the server calls at the beginning of each of these plugins.
int begin_keyspaces(void *table);
int begin_prepared(void *table);
int begin_levels(void *table);
int begin_transactions(void *table);
int begin_locks(void *table);
int begin_lock_waits(void *table);
int begin_compactions(void *table);
int begin_deadlocks(void *table);

}  // namespace esker

#endif
