#include "CPostgresFloor.h"

#include <arpa/inet.h>
#include <poll.h>
#include <postgresql/libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct floor_link {
    PGconn *connection;
    char prepared[16][800];
};

static int succeeded(PGresult *result) {
    ExecStatusType status = PQresultStatus(result);
    int done = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    if (!done) fprintf(stderr, "%s", PQresultErrorMessage(result));
    PQclear(result);
    return done;
}

floor_link *floor_connect(const char *address, const char *commands) {
    floor_link *link = calloc(1, sizeof *link);
    if (!link) return NULL;
    link->connection = PQconnectdb(address);
    return succeeded(PQexec(link->connection, commands)) ? link : NULL;
}

int floor_run(floor_link *link, const char *command, int number) {
    int place = 0;
    while (place < 15 && link->prepared[place][0] && strcmp(link->prepared[place], command)) place++;
    char name[8];
    snprintf(name, sizeof name, "p%d", place);
    if (!link->prepared[place][0]) {
        snprintf(link->prepared[place], sizeof link->prepared[place], "%s", command);
        static const Oid types[] = {23};
        if (!succeeded(PQprepare(link->connection, name, command, 1, types))) return 0;
    }
    int bytes = (int)htonl((unsigned)number);
    const char *value = (const char *)&bytes;
    int length = 4, format = 1;
    return succeeded(PQexecPrepared(link->connection, name, 1, &value, &length, &format, 1));
}

long floor_copy(floor_link *link, const char *command, const char *path) {
    PQclear(PQexec(link->connection, command));
    FILE *file = fopen(path, "w");
    long total = 0;
    char *piece;
    int count;
    while (file && (count = PQgetCopyData(link->connection, &piece, 0)) > 0) {
        total += (long)fwrite(piece, 1, (size_t)count, file);
        PQfreemem(piece);
    }
    if (!file) return -1;
    fclose(file);
    return succeeded(PQgetResult(link->connection)) && !PQgetResult(link->connection) ? total : -1;
}

void floor_close(floor_link *link) {
    PQfinish(link->connection);
    free(link);
}

void floor_drain(floor_link *link) {
    PGnotify *notification;
    PQconsumeInput(link->connection);
    while ((notification = PQnotifies(link->connection))) PQfreemem(notification);
}

void floor_wait(floor_link *link) {
    PGnotify *notification;
    while (!(notification = PQnotifies(link->connection))) {
        struct pollfd entry = {.fd = PQsocket(link->connection), .events = POLLIN};
        poll(&entry, 1, -1);
        PQconsumeInput(link->connection);
    }
    PQfreemem(notification);
}
