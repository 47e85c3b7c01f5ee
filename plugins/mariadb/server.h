// The server's own headers, in the one order and with the one set of words that they ask for.
//
// They are of the release that scripts/mariadb.sh names; nothing else here includes them.

#ifndef ESKER_SERVER_H
#define ESKER_SERVER_H

#define MYSQL_SERVER 1

#include <my_global.h>

#include "sql_class.h"

#include "field.h"
#include "handler.h"
#include "key.h"
#include "log.h"
#include "table.h"

#include <mysql/plugin.h>

#endif
