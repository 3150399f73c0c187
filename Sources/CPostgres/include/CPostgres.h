/* libpq, opened when the first shared collection is.
 *
 * Why C: linking libpq adds OpenSSL and Kerberos to every start, so its functions are looked up with dlsym; only C can
 * give such a pointer the type that the library's own header declares (`__typeof__`), so that a changed signature is a
 * compile error here and not a crash there. libpq also takes a callback with varargs to be silent.
 *
 * A connection belongs to one thread at a time, as libpq demands. */
#ifndef CPOSTGRES_H
#define CPOSTGRES_H

#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#else
#include <libpq-fe.h>
#endif

#define CPOSTGRES_FUNCTIONS(F) \
    F(PQclear) \
    F(PQcmdTuples) \
    F(PQconninfo) \
    F(PQconninfoFree) \
    F(PQconninfoParse) \
    F(PQconnectPoll) \
    F(PQconnectStartParams) \
    F(PQconsumeInput) \
    F(PQerrorMessage) \
    F(PQfinish) \
    F(PQflush) \
    F(PQfreemem) \
    F(PQgetCopyData) \
    F(PQgetResult) \
    F(PQgetisnull) \
    F(PQgetlength) \
    F(PQgetvalue) \
    F(PQisBusy) \
    F(PQlibVersion) \
    F(PQnfields) \
    F(PQnotifies) \
    F(PQntuples) \
    F(PQparameterStatus) \
    F(PQputCopyData) \
    F(PQputCopyEnd) \
    F(PQresultErrorField) \
    F(PQresultErrorMessage) \
    F(PQresultStatus) \
    F(PQsendPrepare) \
    F(PQsendQuery) \
    F(PQsendQueryParams) \
    F(PQsendQueryPrepared) \
    F(PQserverVersion) \
    F(PQsetNoticeReceiver) \
    F(PQsetnonblocking) \
    F(PQsocket) \
    F(PQsslAttribute) \
    F(PQsslInUse) \
    F(PQstatus) \
    F(PQtransactionStatus)

/* The functions under their own names. */
struct cpostgres_library {
#define CPOSTGRES_DECLARE(name) __typeof__(name) *_Nonnull name;
    CPOSTGRES_FUNCTIONS(CPOSTGRES_DECLARE)
#undef CPOSTGRES_DECLARE
};

/* The library, opened by the first call, on any thread; NULL with a reason when it is missing or too old. */
const struct cpostgres_library *_Nullable cpostgres_library(const char *_Nullable *_Nonnull reason);

/* A connection's notices are dropped: libpq would write them to standard error. */
void cpostgres_drop_notices(PGconn *_Nonnull connection);

#endif
