/* Functions of SQL whose time grows faster than their arguments, or slowly but far, in forms that check for an
 * interruption. The results are SQLite's own, byte for byte. */
#include "functions.h"
#include "work.h"

#include <stdlib.h>
#include <string.h>

enum {
    OK = 0,
    ERROR = 1,
    INTERRUPTED = 9,
    ROW = 100,
    TYPE_BLOB = 4,
    TYPE_NULL = 5,
    LIMIT_LENGTH = 0,
    LIMIT_PATTERN_LENGTH = 8,
    UTF8 = 1,
    DETERMINISTIC = 0x800,
    INNOCUOUS = 0x200000,
};

typedef unsigned char byte;

static const struct csqlite_library *const sqlite = &csqlite_loaded;

/* A function's result if it was told to end. */
static void stop(sqlite3_context *context) { sqlite->sqlite3_result_error_code(context, INTERRUPTED); }

/* Compares bytes in pieces; -1: it must end. */
static int is_same(const byte *left, const byte *right, size_t count) {
    const size_t piece = 1 << 20;
    if (count <= 64) return csqlite_spend(4) ? !memcmp(left, right, count) : -1;
    for (size_t done = 0; done < count; done += piece) {
        size_t size = count - done < piece ? count - done : piece, same = 64 < size ? 64 : size;
        if (memcmp(left + done, right + done, same)) return csqlite_spend(4) ? 0 : -1;
        if (!csqlite_spend(size / 8)) return -1;
        if (memcmp(left + done, right + done, size)) return 0;
    }
    return 1;
}

/* The first occurrence behind `start`; `count` if there is none, -1: it must end. */
static int64_t find(const byte *bytes, int64_t start, int64_t count, const byte *wanted, int64_t size) {
    const int64_t piece = 1 << 20;
    while (start <= count - size) {
        int64_t rest = count - size + 1 - start;
        const byte *first = memchr(bytes + start, wanted[0], (size_t)(rest < piece ? rest : piece));
        int64_t next = first ? first - bytes : start + (rest < piece ? rest : piece);
        if (!csqlite_spend((uint64_t)(next - start) / 8 + 4)) return -1;
        start = next;
        if (!first) continue;
        int same = is_same(bytes + start, wanted, (size_t)size);
        if (same) return same < 0 ? -1 : start;
        start++;
    }
    return count;
}

/* instr */

/* The characters before a place; -1: it must end. A byte that continues a character is none. */
static int64_t characters(const byte *text, int64_t count) {
    int64_t result = 0;
    for (int64_t index = 0; index < count; index++) {
        if (index && (text[index] & 0xC0) == 0x80) continue;
        result++;
        if (result % 4096 == 0 && !csqlite_spend(4096)) return -1;
    }
    return result;
}

static void find_place(
    sqlite3_context *context, const byte *bytes, int64_t count, const byte *wanted, int64_t size, int isText) {
    for (int64_t start = 0;;) {
        int64_t place = find(bytes, start, count, wanted, size);
        if (place < 0) return stop(context);
        if (place == count) return sqlite->sqlite3_result_int64(context, 0);
        /* A text is only found where a character begins. */
        if (isText && place && (bytes[place] & 0xC0) == 0x80) {
            start = place + 1;
            continue;
        }
        int64_t before = isText ? characters(bytes, place) : place;
        return before < 0 ? stop(context) : sqlite->sqlite3_result_int64(context, before + 1);
    }
}

static void instr(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    int type = sqlite->sqlite3_value_type(values[0]), wantedType = sqlite->sqlite3_value_type(values[1]);
    if (type == TYPE_NULL || wantedType == TYPE_NULL) return;
    if (!sqlite->sqlite3_value_bytes(values[1])) return sqlite->sqlite3_result_int64(context, 1);
    if (type == TYPE_BLOB && wantedType == TYPE_BLOB) {
        const byte *bytes = sqlite->sqlite3_value_blob(values[0]), *wanted = sqlite->sqlite3_value_blob(values[1]);
        int64_t size = sqlite->sqlite3_value_bytes(values[0]), wantedSize = sqlite->sqlite3_value_bytes(values[1]);
        if (!wanted || (size && !bytes)) return sqlite->sqlite3_result_error_nomem(context);
        return find_place(context, bytes, size, wanted, wantedSize, 0);
    }
    /* Asking for the text of a blob would change it. */
    sqlite3_value *copies[2] = {NULL, NULL};
    const byte *texts[2];
    int64_t sizes[2];
    int isWhole = 1;
    for (int side = 0; side < 2; side++) {
        sqlite3_value *value = values[side];
        if ((side ? wantedType : type) == TYPE_BLOB) value = copies[side] = sqlite->sqlite3_value_dup(value);
        texts[side] = value ? sqlite->sqlite3_value_text(value) : NULL;
        sizes[side] = texts[side] ? sqlite->sqlite3_value_bytes(value) : 0;
        isWhole = isWhole && texts[side];
    }
    if (isWhole) find_place(context, texts[0], sizes[0], texts[1], sizes[1], 1);
    else sqlite->sqlite3_result_error_nomem(context);
    sqlite->sqlite3_value_free(copies[0]);
    sqlite->sqlite3_value_free(copies[1]);
}

/* replace */

struct text {
    byte *bytes;
    int64_t count, size, limit;
};

enum { FITS, IS_TOO_BIG, HAS_NO_MEMORY };

static int append(struct text *text, const byte *bytes, int64_t count) {
    if (text->count + count > text->limit) return IS_TOO_BIG;
    if (text->count + count > text->size) {
        int64_t size = (text->count + count) * 2 > text->limit ? text->limit : (text->count + count) * 2;
        byte *larger = sqlite->sqlite3_realloc64(text->bytes, (uint64_t)size + 1);
        if (!larger) return HAS_NO_MEMORY;
        text->bytes = larger;
        text->size = size;
    }
    if (count) memcpy(text->bytes + text->count, bytes, (size_t)count);
    text->count += count;
    return FITS;
}

static void replace(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    const byte *bytes = sqlite->sqlite3_value_text(values[0]);
    if (!bytes) return;
    int64_t size = sqlite->sqlite3_value_bytes(values[0]);
    const byte *wanted = sqlite->sqlite3_value_text(values[1]);
    if (!wanted) return;
    if (!wanted[0]) return sqlite->sqlite3_result_value(context, values[0]);
    int64_t wantedSize = sqlite->sqlite3_value_bytes(values[1]);
    const byte *other = sqlite->sqlite3_value_text(values[2]);
    if (!other) return;
    int64_t otherSize = sqlite->sqlite3_value_bytes(values[2]);
    sqlite3 *handle = sqlite->sqlite3_context_db_handle(context);
    struct text text = {NULL, 0, 0, sqlite->sqlite3_limit(handle, LIMIT_LENGTH, -1)};
    int result = append(&text, bytes, 0);
    for (int64_t start = 0; result == FITS;) {
        int64_t place = find(bytes, start, size, wanted, wantedSize);
        if (place < 0) break;
        result = append(&text, bytes + start, place - start);
        if (place == size && result == FITS) {
            const char *start = text.bytes ? (const char *)text.bytes : "";
            sqlite->sqlite3_result_text(context, start, (int)text.count, text.bytes ? sqlite->sqlite3_free : NULL);
            return;
        }
        if (result == FITS) result = append(&text, other, otherSize);
        start = place + wantedSize;
    }
    sqlite->sqlite3_free(text.bytes);
    if (result == IS_TOO_BIG) sqlite->sqlite3_result_error_toobig(context);
    else if (result == HAS_NO_MEMORY) sqlite->sqlite3_result_error_nomem(context);
    else stop(context);
}

/* trim, ltrim, rtrim */

enum { LEFT = 1, RIGHT = 2 };

static const byte *behind_character(const byte *text) {
    if (*text++ >= 0xC0)
        while ((*text & 0xC0) == 0x80) text++;
    return text;
}

/* The size of the character of a set at the start or end of a text; 0 for none, -1: it must end. */
static int64_t trimmed(const byte *text, int64_t count, const byte *set, int isRight) {
    int steps = 0;
    for (const byte *next; *set; set = next) {
        next = behind_character(set);
        if (++steps % 4096 == 0 && !csqlite_spend(4096)) return -1;
        int64_t size = next - set;
        if (size <= count && !memcmp(isRight ? text + count - size : text, set, (size_t)size)) {
            return csqlite_spend((uint64_t)(steps % 4096)) ? size : -1;
        }
    }
    return csqlite_spend((uint64_t)(steps % 4096)) ? 0 : -1;
}

static void trim(sqlite3_context *context, int count, sqlite3_value **values) {
    const byte *text = sqlite->sqlite3_value_text(values[0]);
    if (!text) return;
    int64_t rest = sqlite->sqlite3_value_bytes(values[0]), size;
    const byte *set = count > 1 ? sqlite->sqlite3_value_text(values[1]) : (const byte *)" ";
    if (!set) return;
    intptr_t sides = (intptr_t)sqlite->sqlite3_user_data(context);
    if (sides & LEFT) {
        while (rest > 0 && (size = trimmed(text, rest, set, 0))) {
            if (size < 0) return stop(context);
            text += size;
            rest -= size;
        }
    }
    if (sides & RIGHT) {
        while (rest > 0 && (size = trimmed(text, rest, set, 1))) {
            if (size < 0) return stop(context);
            rest -= size;
        }
    }
    sqlite->sqlite3_result_text(context, (const char *)text, (int)rest, (csqlite_destructor)-1);
}

/* like, glob */

struct pattern {
    uint32_t any, one, other; /* 0 for none; `other` begins a set, or an escaped character. */
    int hasSets, foldsCase;
    uint32_t (*fold)(uint32_t); /* Of characters beyond ASCII; NULL where these are compared as they are. */
};

/* The next character as SQLite reads it. */
static uint32_t next_character(const byte **text) {
    uint32_t character = *(*text)++;
    if (character < 0xC0) return character;
    character &= character < 0xE0 ? 0x1F
        : character < 0xF0        ? 0x0F
        : character < 0xF8        ? 0x07
        : character < 0xFC        ? 0x03
                                  : character < 0xFE;
    while ((**text & 0xC0) == 0x80) character = (character << 6) + (0x3F & *(*text)++);
    if (character < 0x80 || (character & 0xFFFFF800) == 0xD800 || (character & 0xFFFFFFFE) == 0xFFFE) return 0xFFFD;
    return character;
}

static uint32_t folded(uint32_t letter) { return letter >= 'A' && letter <= 'Z' ? letter | 0x20 : letter; }

/* Whether a character is in the set that begins at `*pattern`; moves behind it. -1: it must end. */
static int is_in_set(uint32_t character, const byte **pattern) {
    uint32_t former = 0;
    int isSeen = 0, isInverted = 0, steps = 0;
    uint32_t member = next_character(pattern);
    if (member == '^') {
        isInverted = 1;
        member = next_character(pattern);
    }
    if (member == ']') {
        isSeen = character == ']';
        member = next_character(pattern);
    }
    while (member && member != ']') {
        if (member == '-' && **pattern != ']' && **pattern && former > 0) {
            member = next_character(pattern);
            if (character >= former && character <= member) isSeen = 1;
            former = 0;
        } else {
            if (character == member) isSeen = 1;
            former = member;
        }
        if (!member) break;
        if (++steps % 1024 == 0 && !csqlite_spend(2048)) return -1;
        member = next_character(pattern);
    }
    if (!member) (*pattern)--;
    return csqlite_spend((uint64_t)(steps % 1024)) ? member && (isSeen != isInverted) : -1;
}

/* Moves to the next place where the pattern behind a wildcard may begin: by its first byte, where that is known. */
static const byte *candidate(const byte *text, const byte *pattern, const struct pattern *kind) {
    byte first = *pattern;
    if (first >= 0x80 || !first || first == kind->any || first == kind->one || first == kind->other) return text;
    /* The Kelvin sign is a k. */
    if (kind->fold && folded(first) == 'k') return text;
    byte stops[3] = {first, kind->foldsCase ? (byte)folded(first) : first, 0};
    if (kind->foldsCase && first >= 'a' && first <= 'z') stops[1] = first & ~0x20;
    const byte *start = text;
    while (*text && *text != stops[0] && *text != stops[1]) {
        text++;
        if (text - start < 1 << 16) continue;
        if (!csqlite_spend(1 << 16)) return NULL;
        start = text;
    }
    return csqlite_spend((uint64_t)(text - start)) ? text : NULL;
}

/* Whether a text matches; -1: it must end. A failed match goes on behind the last wildcard, one character later. */
static int matches(const byte *pattern, const byte *text, const struct pattern *kind) {
    const byte *behindAny = NULL, *tried = NULL;
    for (;;) {
        if (!csqlite_spend(4)) return -1;
        const byte *rest = pattern;
        uint32_t wanted = next_character(&rest);
        int fits = 0;
        if (!wanted) {
            if (!*text) return 1;
        } else if (kind->any && wanted == kind->any) {
            if (!*rest) return 1;
            if (!(tried = candidate(text, rest, kind))) return -1;
            text = tried;
            pattern = behindAny = rest;
            continue;
        } else if (!*text) {
            return 0;
        } else if (kind->other && wanted == kind->other && kind->hasSets) {
            fits = is_in_set(next_character(&text), &rest);
            if (fits < 0) return -1;
        } else {
            int isEscaped = kind->other && wanted == kind->other;
            if (isEscaped && !(wanted = next_character(&rest))) return 0;
            uint32_t found = next_character(&text);
            fits = found == wanted || (!isEscaped && kind->one && wanted == kind->one)
                || (kind->foldsCase && wanted < 0x80 && found < 0x80 && folded(found) == folded(wanted))
                || (kind->fold && (wanted >= 0x80 || found >= 0x80) && kind->fold(found) == kind->fold(wanted));
        }
        if (fits) {
            pattern = rest;
            continue;
        }
        if (!behindAny || !*tried) return 0;
        tried = candidate(behind_character(tried), behindAny, kind);
        if (!tried) return -1;
        text = tried;
        pattern = behindAny;
    }
}

/* Its address marks the function glob. */
static char is_glob;

static void match(sqlite3_context *context, int count, sqlite3_value **values) {
    static const struct pattern like = {'%', '_', 0, 0, 1, NULL}, glob = {'*', '?', '[', 1, 0, NULL};
    void *data = sqlite->sqlite3_user_data(context);
    struct pattern kind = data == &is_glob ? glob : like;
    if (data && data != &is_glob) kind.fold = (uint32_t (*)(uint32_t))data;
    if (sqlite->sqlite3_compileoption_used("LIKE_DOESNT_MATCH_BLOBS")
        && (sqlite->sqlite3_value_type(values[0]) == TYPE_BLOB || sqlite->sqlite3_value_type(values[1]) == TYPE_BLOB))
        return sqlite->sqlite3_result_int64(context, 0);
    sqlite3 *handle = sqlite->sqlite3_context_db_handle(context);
    if (sqlite->sqlite3_value_bytes(values[0]) > sqlite->sqlite3_limit(handle, LIMIT_PATTERN_LENGTH, -1))
        return sqlite->sqlite3_result_error(context, "LIKE or GLOB pattern too complex", -1);
    if (count > 2) {
        const byte *escape = sqlite->sqlite3_value_text(values[2]);
        if (!escape) return;
        if (!*escape || *behind_character(escape))
            return sqlite->sqlite3_result_error(context, "ESCAPE expression must be a single character", -1);
        kind.other = next_character(&escape);
        if (kind.other == kind.any) kind.any = 0;
        if (kind.other == kind.one) kind.one = 0;
    }
    const byte *pattern = sqlite->sqlite3_value_text(values[0]), *text = sqlite->sqlite3_value_text(values[1]);
    if (!pattern || !text) return;
    int result = matches(pattern, text, &kind);
    if (result < 0) stop(context);
    else sqlite->sqlite3_result_int64(context, result);
}

/* randomblob */

static void randomblob(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    int64_t size = sqlite->sqlite3_value_int64(values[0]);
    if (size < 1) size = 1;
    sqlite3 *handle = sqlite->sqlite3_context_db_handle(context);
    if (size > sqlite->sqlite3_limit(handle, LIMIT_LENGTH, -1)) return sqlite->sqlite3_result_error_toobig(context);
    byte *bytes = sqlite->sqlite3_realloc64(NULL, (uint64_t)size);
    if (!bytes) return sqlite->sqlite3_result_error_nomem(context);
    const int64_t piece = 1 << 16;
    for (int64_t done = 0; done < size; done += piece) {
        if (!csqlite_spend((uint64_t)piece * 4)) {
            sqlite->sqlite3_free(bytes);
            return stop(context);
        }
        sqlite->sqlite3_randomness((int)(size - done < piece ? size - done : piece), bytes + done);
    }
    sqlite->sqlite3_result_blob(context, bytes, (int)size, sqlite->sqlite3_free);
}

/* json_patch: SQLite compares each member with each. */

enum { MOST_COMPARISONS = 50000000 };

/* The library's own function is called in a database of its own. */
struct patcher {
    sqlite3 *handle;
    sqlite3_stmt *statement;
};

static int64_t count_members(const byte *text, int64_t size) {
    int64_t count = 1;
    for (const byte *end = text + size; (text = memchr(text, ':', (size_t)(end - text))); text++) count++;
    return count;
}

static void json_patch(sqlite3_context *context, int count, sqlite3_value **values) {
    struct patcher *patcher = sqlite->sqlite3_user_data(context);
    const byte *texts[2] = {sqlite->sqlite3_value_text(values[0]), sqlite->sqlite3_value_text(values[1])};
    if (count != 2 || !patcher || !texts[0] || !texts[1]) return;
    int sizes[2] = {sqlite->sqlite3_value_bytes(values[0]), sqlite->sqlite3_value_bytes(values[1])};
    if (count_members(texts[0], sizes[0]) > MOST_COMPARISONS / count_members(texts[1], sizes[1]))
        return sqlite->sqlite3_result_error(context, "the values have too many members for json_patch", -1);
    const char *sql = "select json_patch(?, ?)";
    if (!patcher->handle && sqlite->sqlite3_open_v2(":memory:", &patcher->handle, 0x8002, NULL) != OK)
        return sqlite->sqlite3_result_error_nomem(context);
    if (!patcher->statement && sqlite->sqlite3_prepare_v2(patcher->handle, sql, -1, &patcher->statement, NULL) != OK)
        return sqlite->sqlite3_result_error_nomem(context);
    for (int index = 0; index < 2; index++)
        sqlite->sqlite3_bind_text(patcher->statement, index + 1, (const char *)texts[index], sizes[index], NULL);
    int result = sqlite->sqlite3_step(patcher->statement);
    const char *text = (const char *)sqlite->sqlite3_column_text(patcher->statement, 0);
    if (result != ROW) {
        sqlite->sqlite3_result_error(context, sqlite->sqlite3_errmsg(patcher->handle), -1);
    } else if (text) {
        int size = sqlite->sqlite3_column_bytes(patcher->statement, 0);
        sqlite->sqlite3_result_text(context, text, size, (csqlite_destructor)-1);
        sqlite->sqlite3_result_subtype(context, 'J');
    }
    sqlite->sqlite3_reset(patcher->statement);
}

static void free_patcher(void *data) {
    struct patcher *patcher = data;
    sqlite->sqlite3_finalize(patcher->statement);
    sqlite->sqlite3_close_v2(patcher->handle);
    free(patcher);
}

/* All functions. */

int csqlite_add_functions(const struct csqlite_library *library, sqlite3 *handle) {
    struct patcher *patcher = calloc(1, sizeof *patcher);
    const int fixed = UTF8 | DETERMINISTIC | INNOCUOUS;
    const struct {
        const char *name;
        int arguments, flags;
        void *data;
        void (*call)(sqlite3_context *, int, sqlite3_value **);
    } functions[] = {
        {"instr", 2, fixed, NULL, instr},
        {"replace", 3, fixed, NULL, replace},
        {"ltrim", 1, fixed, (void *)LEFT, trim},
        {"ltrim", 2, fixed, (void *)LEFT, trim},
        {"rtrim", 1, fixed, (void *)RIGHT, trim},
        {"rtrim", 2, fixed, (void *)RIGHT, trim},
        {"trim", 1, fixed, (void *)(LEFT | RIGHT), trim},
        {"trim", 2, fixed, (void *)(LEFT | RIGHT), trim},
        {"like", 2, fixed, NULL, match},
        {"like", 3, fixed, NULL, match},
        {"glob", 2, fixed, &is_glob, match},
        {"randomblob", 1, UTF8 | INNOCUOUS, NULL, randomblob},
    };
    int result = OK;
    for (size_t index = 0; result == OK && index < sizeof functions / sizeof *functions; index++)
        result = library->sqlite3_create_function_v2(
            handle, functions[index].name, functions[index].arguments, functions[index].flags, functions[index].data,
            functions[index].call, NULL, NULL, NULL);
    if (!patcher || result != OK) {
        free(patcher);
        return result;
    }
    /* It frees its data also if it fails. */
    return library->sqlite3_create_function_v2(
        handle, "json_patch", 2, fixed, patcher, json_patch, NULL, NULL, free_patcher);
}

int csqlite_fold_case(sqlite3 *handle, uint32_t (*fold)(uint32_t)) {
    const int fixed = UTF8 | DETERMINISTIC | INNOCUOUS;
    int result = OK;
    for (int count = 2; result == OK && count < 4; count++)
        result = sqlite->sqlite3_create_function_v2(
            handle, "like", count, fixed, (void *)fold, match, NULL, NULL, NULL);
    return result;
}
