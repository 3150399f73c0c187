/* libvips, opened when the first picture is touched.
 *
 * Why C: linking libvips adds about 38 ms to every start, so its functions are looked up with dlsym; only C can
 * give such a pointer the type that the library's own header declares (`__typeof__`), so that a changed signature is
 * a compile error here and not a crash there. Its functions also take their options as C varargs, which Swift lacks.
 *
 * No object of libvips crosses this border: bytes go in, bytes come out. Every function may be called from any thread. */
#ifndef CIMAGING_H
#define CIMAGING_H

#include <stddef.h>
#include <stdint.h>

typedef enum cimaging_status {
    CIMAGING_OK = 0,
    /* libvips is not installed, too old, or does not start. */
    CIMAGING_LIBRARY_MISSING,
    /* The picture has more pixels than the limit; nothing was decoded. */
    CIMAGING_TOO_MANY_PIXELS,
    /* The bytes are no picture that libvips reads, or a damaged one. */
    CIMAGING_UNREADABLE,
    /* The picture cannot be made as asked. */
    CIMAGING_FAILED
} cimaging_status;

/* A picture: a file's bytes, or with `bands` 3 or 4 the rows of 8-bit sRGB(A) pixels from the top. The width and the
 * height of a file are those of its header, upright; 0 when they are not known yet. */
typedef struct cimaging_source {
    const void *bytes;
    size_t length;
    int32_t width, height, bands;
    /* The most pixels that are decoded. */
    int64_t pixel_limit;
} cimaging_source;

typedef enum cimaging_mode {
    /* As large as the picture is. */
    CIMAGING_AS_IS = 0,
    /* As large as fits into width and height, in its own proportions. */
    CIMAGING_FIT,
    /* Exactly width and height, filled from the middle; what is over is cut off. */
    CIMAGING_FILL,
    /* Exactly width and height, in their proportions. */
    CIMAGING_STRETCH
} cimaging_mode;

typedef enum cimaging_output {
    /* Transparency becomes white. */
    CIMAGING_JPEG = 0,
    CIMAGING_PNG,
    /* Three bytes a pixel; transparency becomes the background. */
    CIMAGING_RGB,
    /* Three bytes a pixel, or four where the picture has transparency. */
    CIMAGING_PIXELS
} cimaging_output;

typedef enum cimaging_metadata {
    CIMAGING_NO_METADATA = 0,
    /* EXIF without the place; nothing else. */
    CIMAGING_EXIF_WITHOUT_PLACE,
    /* All: EXIF, XMP, IPTC. */
    CIMAGING_ALL_METADATA
} cimaging_metadata;

typedef struct cimaging_request {
    cimaging_mode mode;
    int32_t width, height;
    cimaging_output output;
    /* Of JPEG, 1 to 100. */
    int32_t quality;
    /* Grey that shows through, 0 to 255; for CIMAGING_RGB. */
    int32_t background;
    /* What is kept of the metadata, for CIMAGING_JPEG and CIMAGING_PNG. */
    cimaging_metadata metadata;
    /* Whether there are at most 256 colours, dithered; for CIMAGING_RGB. */
    int32_t is_reduced;
} cimaging_request;

typedef struct cimaging_result {
    /* To be given to cimaging_free. */
    void *bytes;
    size_t length;
    int32_t width, height, bands;
    /* What went wrong, in libvips's words, lines apart. */
    char message[512];
} cimaging_result;

/* Opens libvips if that has not been tried yet; CIMAGING_OK or CIMAGING_LIBRARY_MISSING. */
cimaging_status cimaging_load(cimaging_result *result);

/* Width and height, upright, of a picture whose pixels are not decoded. */
cimaging_status cimaging_measure(const cimaging_source *source, cimaging_result *result);

/* The EXIF fields of a picture whose pixels are not decoded: "ifd0-Make", NUL, the value as libvips says it, NUL, … */
cimaging_status cimaging_exif(const cimaging_source *source, cimaging_result *result);

/* Decodes a picture, upright and in sRGB, resizes it, and writes it as asked. */
cimaging_status cimaging_render(
    const cimaging_source *source, const cimaging_request *request, cimaging_result *result);

/* Whether the calling thread works on pictures beside other threads that do, and libvips may be shared with them. */
void cimaging_set_beside_others(int value);

/* Has work on pictures, on the calling thread, ask whether it has to stop: it fails then. NULL: nothing stops it. */
void cimaging_set_stop(int (*is_stopped)(void));

void cimaging_free(void *bytes);

#endif
