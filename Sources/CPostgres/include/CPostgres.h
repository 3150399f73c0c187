/* libpq, loaded when the first shared collection is opened.
 *
 * Why C: linking libpq adds OpenSSL and Kerberos to every start, so its functions are looked up with dlsym; only C can
 * give such a pointer the type declared in the library's own header (`__typeof__`), so that a changed signature is a
 * compile error and not a crash. Silencing libpq also requires a callback with varargs.
 *
 * A connection belongs to one thread at a time, as required by libpq. */
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

/* Functions of libpq 14 and later: commands without waiting for each answer. */
#define CPOSTGRES_LATER_FUNCTIONS(F) \
    F(PQenterPipelineMode) \
    F(PQexitPipelineMode) \
    F(PQpipelineSync)

/* The functions, by name; the later ones are null in an older library. */
struct cpostgres_library {
#define CPOSTGRES_DECLARE(name) __typeof__(name) *_Nonnull name;
    CPOSTGRES_FUNCTIONS(CPOSTGRES_DECLARE)
#undef CPOSTGRES_DECLARE
#define CPOSTGRES_DECLARE(name) __typeof__(name) *_Nullable name;
    CPOSTGRES_LATER_FUNCTIONS(CPOSTGRES_DECLARE)
#undef CPOSTGRES_DECLARE
};

/* The library, loaded by the first call, on any thread; NULL with a reason if it is missing or too old. */
const struct cpostgres_library *_Nullable cpostgres_library(const char *_Nullable *_Nonnull reason);

/* Takes a connection's notices, which libpq would write to standard error. One is not dropped: a commit was made, and the
 * wait for its standbys was cancelled, which the server answers as a success. It sets *is_unreplicated, which has to
 * outlive the connection. */
void cpostgres_take_notices(PGconn *_Nonnull connection, int *_Nonnull is_unreplicated);

#endif
