/* libvips, loaded on first use.
 *
 * Why C: linking libvips adds about 38 ms to every start, so its functions are looked up with dlsym; only C can
 * give such a pointer a declared type (`__typeof__`), which a test compares with libvips's headers. Its functions also
 * take their options as C varargs, which Swift lacks.
 *
 * No object of libvips crosses this border, only bytes. Every function may be called from any thread. */
#ifndef CIMAGING_H
#define CIMAGING_H

#include <stddef.h>
#include <stdint.h>

typedef enum cimaging_status {
    CIMAGING_OK = 0,
    /* libvips is not installed, too old, or fails to start. */
    CIMAGING_LIBRARY_MISSING,
    /* The picture has more pixels than the limit; nothing was decoded. */
    CIMAGING_TOO_MANY_PIXELS,
    /* libvips cannot read the bytes, or they are damaged. */
    CIMAGING_UNREADABLE,
    /* The picture cannot be encoded as requested. */
    CIMAGING_FAILED
} cimaging_status;

/* A picture: a file's bytes, or with `bands` 3 or 4 the rows of 8-bit sRGB(A) pixels from the top. A file's width and
 * height are the upright ones of its header; 0 when they are unknown. */
typedef struct cimaging_source {
    const void *bytes;
    size_t length;
    int32_t width, height, bands;
    /* Maximum number of decoded pixels. */
    int64_t pixel_limit;
    /* Above 0: the bytes are an SVG document that this program has made, to be drawn enlarged by this factor. The
     * documents of others are not read: libvips counts their loader among those that are not for untrusted input. */
    double drawing_scale;
} cimaging_source;

typedef enum cimaging_mode {
    /* The picture's own size. */
    CIMAGING_AS_IS = 0,
    /* The largest size within width and height, with the picture's proportions. */
    CIMAGING_FIT,
    /* Exactly width and height, filled from the middle and cropped. */
    CIMAGING_FILL,
    /* Exactly width and height, stretched. */
    CIMAGING_STRETCH
} cimaging_mode;

typedef enum cimaging_output {
    /* Transparency becomes white. */
    CIMAGING_JPEG = 0,
    CIMAGING_PNG,
    /* Three bytes per pixel; transparency becomes the background. */
    CIMAGING_RGB,
    /* Three bytes per pixel, or four with transparency. */
    CIMAGING_PIXELS
} cimaging_output;

typedef enum cimaging_metadata {
    CIMAGING_NO_METADATA = 0,
    /* Only EXIF without the place, and without texts that may name it. */
    CIMAGING_EXIF_WITHOUT_PLACE,
    /* All: EXIF, XMP, IPTC. */
    CIMAGING_ALL_METADATA
} cimaging_metadata;

typedef struct cimaging_request {
    cimaging_mode mode;
    int32_t width, height;
    cimaging_output output;
    /* The quality of JPEG, 1 to 100. */
    int32_t quality;
    /* The grey background, 0 to 255; for CIMAGING_RGB. */
    int32_t background;
    /* The metadata to keep, for CIMAGING_JPEG and CIMAGING_PNG. */
    cimaging_metadata metadata;
    /* Whether to reduce to 256 colours, dithered; for CIMAGING_RGB. */
    int32_t is_reduced;
} cimaging_request;

typedef struct cimaging_result {
    /* Released by cimaging_free. */
    void *bytes;
    size_t length;
    int32_t width, height, bands;
    /* libvips's error message, in lines; after success what the decoder says of damage, empty for none. */
    char message[512];
} cimaging_result;

/* Reads the upright width and height of a picture without decoding it. */
cimaging_status cimaging_measure(const cimaging_source *source, cimaging_result *result);

/* Reads the EXIF fields of a picture without decoding it: "ifd0-Make", NUL, libvips's text of the value, NUL, …, and last
 * "data", NUL, the segment in hexadecimal digits, NUL. */
cimaging_status cimaging_exif(const cimaging_source *source, cimaging_result *result);

/* Decodes a picture upright and in sRGB, resizes it, and encodes it as requested. */
cimaging_status cimaging_render(
    const cimaging_source *source, const cimaging_request *request, cimaging_result *result);

/* Declares that the calling thread processes pictures in parallel with other threads, so that libvips may be shared. */
void cimaging_set_concurrent(int value);

/* Sets the check for an interruption of the calling thread's work on pictures, which then fails. NULL for none. */
void cimaging_set_stop(int (*is_stopped)(void));

void cimaging_free(void *bytes);

/* What is known of the fonts. */
typedef enum cimaging_fonts {
    /* fontconfig is not installed, or there is no memory for its answer. */
    CIMAGING_FONTS_UNKNOWN = 0,
    CIMAGING_NO_FONT,
    CIMAGING_FONTS
} cimaging_fonts;

/* Leaves those of some characters that no installed font has, and their number. */
cimaging_fonts cimaging_find_characters(uint32_t *characters, size_t *count);

#endif
