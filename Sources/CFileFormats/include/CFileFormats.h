/* zlib, libarchive and expat, each loaded when the first file needs it.
 *
 * Why C: linking them would slow down every start, and libarchive alone brings seven more libraries, so their functions are
 * looked up with dlsym. The declarations are the libraries' own, unchanged since zlib 1.2, libarchive 3.2 and expat 1.95.8,
 * and stable by their promises: no header is needed to build.
 *
 * A stream, an archive and a parser belong to one thread at a time. */
#ifndef CFILEFORMATS_H
#define CFILEFORMATS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* MARK: zlib */

/* zlib's z_stream. */
typedef struct cformats_stream {
    const unsigned char *_Nullable next_in;
    unsigned int avail_in;
    unsigned long total_in;
    unsigned char *_Nullable next_out;
    unsigned int avail_out;
    unsigned long total_out;
    const char *_Nullable msg;
    void *_Nullable state;
    void *_Nullable (*_Nullable zalloc)(void *_Nullable, unsigned int, unsigned int);
    void (*_Nullable zfree)(void *_Nullable, void *_Nullable);
    void *_Nullable opaque;
    int data_type;
    unsigned long adler;
    unsigned long reserved;
} cformats_stream;

#define CFORMATS_ZLIB(F) \
    F(const char *_Nonnull, zlibVersion, (void)) \
    F(int, inflateInit2_, (cformats_stream *_Nonnull, int, const char *_Nonnull, int)) \
    F(int, inflate, (cformats_stream *_Nonnull, int)) \
    F(int, inflateReset, (cformats_stream *_Nonnull)) \
    F(int, inflateEnd, (cformats_stream *_Nonnull))

/* MARK: libarchive */

struct archive;
struct archive_entry;

typedef ssize_t (*cformats_read)(
    struct archive *_Nonnull, void *_Nullable, const void *_Nullable *_Nonnull);
typedef int64_t (*cformats_seek)(struct archive *_Nonnull, void *_Nullable, int64_t, int);
typedef int64_t (*cformats_skip)(struct archive *_Nonnull, void *_Nullable, int64_t);

#define CFORMATS_ARCHIVE(F) \
    F(struct archive *_Nullable, archive_read_new, (void)) \
    F(int, archive_read_support_format_zip_seekable, (struct archive *_Nonnull)) \
    F(int, archive_read_set_read_callback, (struct archive *_Nonnull, cformats_read _Nonnull)) \
    F(int, archive_read_set_seek_callback, (struct archive *_Nonnull, cformats_seek _Nonnull)) \
    F(int, archive_read_set_skip_callback, (struct archive *_Nonnull, cformats_skip _Nonnull)) \
    F(int, archive_read_set_callback_data, (struct archive *_Nonnull, void *_Nullable)) \
    F(int, archive_read_open1, (struct archive *_Nonnull)) \
    F(int, archive_read_next_header, \
        (struct archive *_Nonnull, struct archive_entry *_Nullable *_Nonnull)) \
    F(ssize_t, archive_read_data, (struct archive *_Nonnull, void *_Nonnull, size_t)) \
    F(int, archive_read_free, (struct archive *_Nullable)) \
    F(const char *_Nullable, archive_error_string, (struct archive *_Nonnull)) \
    F(void, archive_set_error, (struct archive *_Nonnull, int, const char *_Nonnull, ...)) \
    F(const char *_Nullable, archive_entry_pathname_utf8, (struct archive_entry *_Nonnull)) \
    F(int64_t, archive_entry_size, (struct archive_entry *_Nonnull)) \
    F(int, archive_entry_is_data_encrypted, (struct archive_entry *_Nonnull))

/* MARK: expat */

typedef struct XML_ParserStruct *XML_Parser;

typedef void (*cformats_start)(
    void *_Nullable, const char *_Nonnull, const char *_Nullable *_Nonnull);
typedef void (*cformats_end)(void *_Nullable, const char *_Nonnull);
typedef void (*cformats_text)(void *_Nullable, const char *_Nonnull, int);
typedef void (*cformats_doctype)(
    void *_Nullable, const char *_Nonnull, const char *_Nullable, const char *_Nullable, int);

#define CFORMATS_EXPAT(F) \
    F(XML_Parser _Nullable, XML_ParserCreateNS, (const char *_Nullable, char)) \
    F(void, XML_ParserFree, (XML_Parser _Nullable)) \
    F(void, XML_SetUserData, (XML_Parser _Nonnull, void *_Nullable)) \
    F(void, XML_SetElementHandler, (XML_Parser _Nonnull, cformats_start _Nonnull, cformats_end _Nonnull)) \
    F(void, XML_SetCharacterDataHandler, (XML_Parser _Nonnull, cformats_text _Nullable)) \
    F(void, XML_SetDefaultHandler, (XML_Parser _Nonnull, cformats_text _Nonnull)) \
    F(void, XML_SetStartDoctypeDeclHandler, (XML_Parser _Nonnull, cformats_doctype _Nonnull)) \
    F(void *_Nullable, XML_GetBuffer, (XML_Parser _Nonnull, int)) \
    F(int, XML_ParseBuffer, (XML_Parser _Nonnull, int, int)) \
    F(int, XML_StopParser, (XML_Parser _Nonnull, unsigned char)) \
    F(int, XML_ResumeParser, (XML_Parser _Nonnull)) \
    F(int, XML_GetErrorCode, (XML_Parser _Nonnull)) \
    F(const char *_Nullable, XML_ErrorString, (int)) \
    F(unsigned long, XML_GetCurrentLineNumber, (XML_Parser _Nonnull)) \
    F(unsigned long, XML_GetCurrentColumnNumber, (XML_Parser _Nonnull))

/* The functions of each library, by name. */
#define CFORMATS_DECLARE(result, name, parameters) result (*_Nonnull name) parameters;
struct cformats_zlib { CFORMATS_ZLIB(CFORMATS_DECLARE) };
struct cformats_archive { CFORMATS_ARCHIVE(CFORMATS_DECLARE) };
struct cformats_expat { CFORMATS_EXPAT(CFORMATS_DECLARE) };
#undef CFORMATS_DECLARE

/* A library, loaded by the first call, on any thread; NULL with a reason if it is missing or too old. */
const struct cformats_zlib *_Nullable cformats_zlib(const char *_Nullable *_Nonnull reason);
const struct cformats_archive *_Nullable cformats_archive(const char *_Nullable *_Nonnull reason);
const struct cformats_expat *_Nullable cformats_expat(const char *_Nullable *_Nonnull reason);

/* Begins to read the members of a file that gzip has written, or of a stream of zlib; zlib's result. */
int cformats_begin_inflating(const struct cformats_zlib *_Nonnull zlib, cformats_stream *_Nonnull stream);

/* Says in the archive why a callback failed: the library's function has variable arguments. */
void cformats_fail(
    const struct cformats_archive *_Nonnull library, struct archive *_Nonnull archive, const char *_Nonnull reason);

#endif
