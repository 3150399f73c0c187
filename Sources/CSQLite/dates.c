/* The collating sequence of dates as texts: texts that are dates are compared as the moments that they are, in whatever
 * form and year; others byte by byte, among them.
 *
 * Each text is compared by a key of bytes, so that the order is a total one. The key of a date is `2024-01-31 10:00:00`
 * in UTC, with the digits of the fraction behind a point if it has one. The key of a year alone is the beginning of those
 * of its days. */
#include "CSQLite.h"
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of the head, then those of the tail. */
struct key {
    unsigned char head[48];
    int head_count;
    /* Part of the text. */
    const unsigned char *tail;
    int tail_count;
};

/* What is left of a text. */
struct reader {
    const unsigned char *at, *end;
};

struct day {
    int year, month, day;
};

static int is_digit(unsigned char byte) { return byte >= '0' && byte <= '9'; }

/* Whether a text is its own key, as columns write dates of the years 0 to 9999, or is as long as a day, whose key has the
 * same time behind it as that of any other. */
static int is_plain(const unsigned char *text, int count) {
    if (count < 10 || !is_digit(text[0]) || text[4] != '-' || text[7] != '-') return 0;
    if (count == 10) return 1;
    if (count < 19 || text[10] != ' ' || text[13] != ':' || text[16] != ':') return 0;
    /* The end of a day and a leap second have another name. */
    if ((text[11] == '2' && text[12] == '4') || text[17] > '5') return 0;
    if (count == 19) return 1;
    if (count == 20 || text[19] != '.' || text[count - 1] == '0') return 0;
    for (int place = 20; place < count; place++) {
        if (!is_digit(text[place])) return 0;
    }
    return 1;
}

static int take(struct reader *reader, char byte) {
    if (reader->at == reader->end || *reader->at != byte) return 0;
    reader->at++;
    return 1;
}

/* The number of two digits up to a maximum; -1 for anything else. */
static int take_two(struct reader *reader, int maximum) {
    if (reader->end - reader->at < 2 || !is_digit(reader->at[0]) || !is_digit(reader->at[1])) return -1;
    int number = (reader->at[0] - '0') * 10 + reader->at[1] - '0';
    if (number > maximum) return -1;
    reader->at += 2;
    return number;
}

/* A year of four digits, or with a sign or a hyphen of up to six; returns whether it is one. */
static int take_year(struct reader *reader, int *year) {
    struct reader rest = *reader;
    int is_negative = take(&rest, '-'), is_signed = is_negative || take(&rest, '+');
    int number = 0, count = 0;
    for (; count < 7 && rest.at < rest.end && is_digit(*rest.at); count++) number = number * 10 + *rest.at++ - '0';
    int is_followed = rest.at < rest.end && *rest.at == '-';
    if (count < 4 || count > 6 || (rest.at < rest.end && !is_followed)) return 0;
    if (count > 4 && !is_signed && !is_followed) return 0;
    *year = is_negative ? -number : number;
    *reader = rest;
    return 1;
}

static int days_of(const struct day *day) {
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int is_leap = day->year % 4 == 0 && (day->year % 100 != 0 || day->year % 400 == 0);
    return lengths[day->month - 1] + (is_leap && day->month == 2);
}

/* The seconds east of UTC of a zone, or of none; 0 if that is not what is left. */
static int take_zone(struct reader *reader, int *east) {
    *east = 0;
    take(reader, ' ');
    if (reader->at == reader->end) return 1;
    if (take(reader, 'Z') || take(reader, 'z')) return reader->at == reader->end;
    int is_west = take(reader, '-');
    if (!is_west && !take(reader, '+')) return 0;
    int hours = take_two(reader, 23), minutes = 0;
    if (hours < 0) return 0;
    if (take(reader, ':') || reader->at < reader->end) minutes = take_two(reader, 59);
    if (minutes < 0 || reader->at < reader->end) return 0;
    *east = (hours * 3600 + minutes * 60) * (is_west ? -1 : 1);
    return 1;
}

/* The time of a day in seconds, less than two days and more than a day before its beginning, and the digits of a fraction
 * without zeros at the end; 0 if that is not what is left. */
static int take_time(struct reader *reader, int *seconds, struct reader *fraction) {
    if (!take(reader, 'T') && !take(reader, 't') && !take(reader, ' ')) return 0;
    int hour = take_two(reader, 24), minute = 0, second = 0, east;
    if (hour < 0) return 0;
    if (take(reader, ':')) {
        if ((minute = take_two(reader, 59)) < 0) return 0;
        if (take(reader, ':')) {
            if ((second = take_two(reader, 60)) < 0) return 0;
            if (take(reader, '.') || take(reader, ',')) {
                fraction->at = reader->at;
                while (reader->at < reader->end && is_digit(*reader->at)) reader->at++;
                if (reader->at == fraction->at) return 0;
                fraction->end = reader->at;
                while (fraction->end > fraction->at && fraction->end[-1] == '0') fraction->end--;
            }
        }
    }
    if (hour == 24 && (minute || second || fraction->at < fraction->end)) return 0;
    if (!take_zone(reader, &east)) return 0;
    *seconds = hour * 3600 + minute * 60 + second - east;
    /* A leap second ends a day in UTC. */
    if (second == 60 && *seconds % 86400 != 0) return 0;
    return 1;
}

/* Brings a time within its day. */
static void carry(struct day *day, int *seconds) {
    if (*seconds < 0) {
        *seconds += 86400;
        if (--day->day > 0) return;
        if (--day->month == 0) {
            day->month = 12;
            day->year--;
        }
        day->day = days_of(day);
    } else if (*seconds >= 86400) {
        *seconds -= 86400;
        if (++day->day <= days_of(day)) return;
        day->day = 1;
        if (++day->month > 12) {
            day->month = 1;
            day->year++;
        }
    }
}

/* Years before 0 are before all digits, the earliest first, and those beyond 9999 behind them. */
static int write_year(char *bytes, size_t count, int year) {
    if (year < 0) return snprintf(bytes, count, "-%07d", 9999999 + year);
    return snprintf(bytes, count, year > 9999 ? ":%07d" : "%04d", year);
}

/* The key of a date that the calendar does not reach, as columns write it: before or behind all years, by its seconds. */
static int is_beyond(const unsigned char *text, int count, struct key *key) {
    static const char suffix[] = " seconds since 2001";
    enum { SUFFIX = sizeof suffix - 1, LONGEST_NUMBER = 40 };
    int digits = count - SUFFIX;
    if (digits < 1 || digits > LONGEST_NUMBER || memcmp(text + digits, suffix, SUFFIX) != 0) return 0;
    char number[LONGEST_NUMBER + 1], *end;
    memcpy(number, text, (size_t)digits);
    number[digits] = 0;
    double seconds = strtod(number, &end);
    if (end != number + digits || !(seconds >= 29e12 || seconds <= -29e12)) return 0;
    uint64_t bits;
    memcpy(&bits, &seconds, sizeof bits);
    key->head_count = snprintf(
        (char *)key->head, sizeof key->head, "%c%016llx", seconds < 0 ? '!' : ';',
        (unsigned long long)(seconds < 0 ? ~bits : bits));
    key->tail_count = 0;
    return 1;
}

static void make_key(const unsigned char *text, int count, struct key *key) {
    struct reader reader = {text, text + count};
    struct day day;
    *key = (struct key){.tail = text, .tail_count = count};
    if (!take_year(&reader, &day.year)) {
        is_beyond(text, count, key);
        return;
    }
    struct reader rest = reader, fraction = {text, text};
    int seconds = 0;
    if (take(&rest, '-') && (day.month = take_two(&rest, 12)) > 0 && take(&rest, '-')
        && (day.day = take_two(&rest, 31)) > 0 && day.day <= days_of(&day)
        && (rest.at == rest.end || take_time(&rest, &seconds, &fraction))) {
        carry(&day, &seconds);
        int written = write_year((char *)key->head, sizeof key->head, day.year);
        written += snprintf(
            (char *)key->head + written, sizeof key->head - (size_t)written, "-%02d-%02d %02d:%02d:%02d%s", day.month,
            day.day, seconds / 3600, seconds / 60 % 60, seconds % 60, fraction.at < fraction.end ? "." : "");
        key->head_count = written;
        key->tail = fraction.at;
        key->tail_count = (int)(fraction.end - fraction.at);
    } else {
        key->head_count = write_year((char *)key->head, sizeof key->head, day.year);
        key->tail = reader.at;
        key->tail_count = (int)(reader.end - reader.at);
    }
}

/* The byte of a key at a place; -1 behind the end. */
static int byte_at(const struct key *key, int place) {
    if (place < key->head_count) return key->head[place];
    place -= key->head_count;
    return place < key->tail_count ? key->tail[place] : -1;
}

static int compare_bytes(const void *left, int left_count, const void *right, int right_count) {
    int shorter = left_count < right_count ? left_count : right_count;
    int order = shorter > 0 ? memcmp(left, right, (size_t)shorter) : 0;
    return order ? order : (left_count > right_count) - (left_count < right_count);
}

static int compare_dates(void *data, int left_count, const void *left, int right_count, const void *right) {
    (void)data;
    /* A day beside a time lacks its own. */
    if ((left_count == 10) == (right_count == 10) && is_plain(left, left_count) && is_plain(right, right_count)) {
        return compare_bytes(left, left_count, right, right_count);
    }
    struct key first, second;
    make_key(left, left_count, &first);
    make_key(right, right_count, &second);
    if (first.head_count == 0 && second.head_count == 0) {
        return compare_bytes(first.tail, first.tail_count, second.tail, second.tail_count);
    }
    for (int place = 0;; place++) {
        int byte = byte_at(&first, place), other = byte_at(&second, place);
        if (byte != other) return byte < other ? -1 : 1;
        if (byte < 0) return 0;
    }
}

int csqlite_add_date_order(sqlite3 *handle, const char *name) {
    enum { UTF8 = 1 };
    return csqlite_loaded.sqlite3_create_collation_v2(handle, name, UTF8, NULL, compare_dates, NULL);
}
