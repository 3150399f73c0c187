#include "decoding.h"

#include <stdio.h>
#include <string.h>

typedef const struct cimaging_library *Library;

static _Thread_local int (*stop)(void);

void cimaging_set_stop(int (*is_stopped)(void)) { stop = is_stopped; }
int cimaging_can_stop(void) { return stop != NULL; }
int cimaging_is_stopped(void) { return stop && stop(); }

cimaging_status cimaging_fail(Library vips, cimaging_status status, cimaging_result *result) {
    char *text = vips->vips_error_buffer_copy();
    snprintf(result->message, sizeof result->message, "%s", text);
    vips->g_free(text);
    return status;
}

static size_t bytes_per_pixel(Library vips, VipsImage *image) {
    return vips->vips_format_sizeof(vips->vips_image_get_format(image)) * (size_t)vips->vips_image_get_bands(image);
}

static VipsImage *open_pixels(Library vips, const cimaging_source *source) {
    VipsImage *image = NULL;
    VipsImage *pixels = vips->vips_image_new_from_memory(
        source->bytes, source->length, source->width, source->height, source->bands, VIPS_FORMAT_UCHAR);
    if (!pixels) return NULL;
    if (vips->vips_copy(pixels, &image, "interpretation", VIPS_INTERPRETATION_sRGB, NULL) != 0) image = NULL;
    vips->g_object_unref(pixels);
    return image;
}

static int is_jpeg(const cimaging_source *source) {
    const unsigned char *bytes = source->bytes;
    return source->bands == 0 && source->length > 2 && bytes[0] == 0xff && bytes[1] == 0xd8;
}

static int is_png(const cimaging_source *source) {
    return source->bands == 0 && source->length > 4 && memcmp(source->bytes, "\x89PNG", 4) == 0;
}

/* Opens a drawing of this program's own, with the lock held exclusively: the loader of SVG is admitted for it alone. */
static VipsImage *open_drawing(Library vips, const cimaging_source *source) {
    static const char loaders[] = "VipsForeignLoadSvg";
    vips->vips_operation_block_set(loaders, FALSE);
    VipsImage *image = vips->vips_image_new_from_buffer(
        source->bytes, source->length, "", "scale", source->drawing_scale, NULL);
    vips->vips_operation_block_set(loaders, TRUE);
    return image;
}

/* Opens a file with its format's loader; JPEG's is called directly, without detection. */
static VipsImage *open_file(Library vips, const cimaging_source *source, int shrink) {
    VipsImage *image = NULL;
    char options[32] = "";
    if (is_jpeg(source))
        return vips->vips_jpegload_buffer(
                   (void *)source->bytes, source->length, &image, "shrink", shrink, "access", VIPS_ACCESS_SEQUENTIAL,
                   "fail_on", VIPS_FAIL_ON_TRUNCATED, NULL) == 0
            ? image
            : NULL;
    if (shrink > 1) snprintf(options, sizeof options, "scale=0.%d", 1000 / shrink);
    return vips->vips_image_new_from_buffer(
        source->bytes, source->length, options, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", VIPS_FAIL_ON_TRUNCATED,
        NULL);
}

/* Whether the samples have no known range, such as 0 to 1 or 0 to 4,294,967,295: as grey of 8 bits they would be black. */
static int has_unknown_range(Library vips, VipsImage *image) {
    VipsInterpretation interpretation = vips->vips_image_get_interpretation(image);
    return vips->vips_image_get_format(image) > VIPS_FORMAT_SHORT &&
           (interpretation == VIPS_INTERPRETATION_B_W || interpretation == VIPS_INTERPRETATION_MULTIBAND);
}

cimaging_status cimaging_open(
    Library vips, const cimaging_source *source, int shrink, VipsImage **image, cimaging_result *result) {
    if (source->drawing_scale > 0 && vips->vips_type_find("VipsOperation", "svgload_buffer") == 0) {
        snprintf(result->message, sizeof result->message, "this libvips was built without SVG (librsvg)");
        return CIMAGING_LIBRARY_MISSING;
    }
    *image = source->bands != 0 ? open_pixels(vips, source)
        : source->drawing_scale > 0 ? open_drawing(vips, source)
                                    : open_file(vips, source, shrink);
    if (!*image) return cimaging_fail(vips, CIMAGING_UNREADABLE, result);
    if (has_unknown_range(vips, *image)) {
        vips->g_object_unref(*image);
        *image = NULL;
        snprintf(result->message, sizeof result->message,
            "its grey has more than 16 bits, in a range that the file does not tell: convert it to 8 or 16 bits");
        return CIMAGING_UNREADABLE;
    }
    int64_t width = vips->vips_image_get_width(*image), height = vips->vips_image_get_height(*image);
    /* A pixel with many bands or high depth counts by its bytes. */
    int64_t weight = (int64_t)(bytes_per_pixel(vips, *image) + 3) / 4;
    if (width * height <= source->pixel_limit / weight) return CIMAGING_OK;
    vips->g_object_unref(*image);
    *image = NULL;
    result->width = (int32_t)width;
    result->height = (int32_t)height;
    return CIMAGING_TOO_MANY_PIXELS;
}

/* The factor by which the request reduces the picture. */
static double reduction(const cimaging_source *source, const cimaging_request *request) {
    if (request->mode == CIMAGING_AS_IS) return 1;
    double across = (double)source->width / request->width, down = (double)source->height / request->height;
    return (request->mode == CIMAGING_FIT) == (across > down) ? across : down;
}

/* The factor of the decoder: half of the total one, so that the resampling determines the quality. */
static int shrink_on_load(double factor) { return factor >= 16 ? 8 : factor >= 8 ? 4 : factor >= 4 ? 2 : 1; }

/* Whether the format's decoder can reduce a picture. */
static int shrinks(const cimaging_source *source) {
    const char *bytes = source->bytes;
    if (source->bands != 0 || source->length < 12) return 0;
    return is_jpeg(source) || (memcmp(bytes, "RIFF", 4) == 0 && memcmp(bytes + 8, "WEBP", 4) == 0);
}

/* Reads rows into memory, in order and on this thread.
 *
 * libvips's own thread pool sometimes reports success for a picture that fails to decode (8.14.1: small ones, by a
 * race; resized ones, always). The rows of a region fail where they are requested. */
int cimaging_read_rows(Library vips, VipsImage *image, VipsPel *bytes) {
    int width = vips->vips_image_get_width(image), height = vips->vips_image_get_height(image);
    size_t line = bytes_per_pixel(vips, image) * (size_t)width;
    VipsRegion *region = vips->vips_region_new(image);
    int status = region ? 0 : -1;
    for (int top = 0; top < height && status == 0; top += 16) {
        if (cimaging_is_stopped()) {
            status = -1;
            break;
        }
        int rows = height - top < 16 ? height - top : 16;
        size_t length = 0;
        VipsPel *strip = vips->vips_region_fetch(region, 0, top, width, rows, &length);
        if (strip && length == (size_t)rows * line) memcpy(bytes + (size_t)top * line, strip, length);
        else status = -1;
        vips->g_free(strip);
    }
    if (region) vips->g_object_unref(region);
    return status;
}

static int copy_to_memory(Library vips, VipsImage **image) {
    VipsImage *memory = vips->vips_image_new_memory();
    int is_ready = memory && vips->vips_image_pipelinev(memory, VIPS_DEMAND_STYLE_ANY, *image, NULL) == 0 &&
                   vips->vips_image_write_prepare(memory) == 0;
    VipsPel *bytes = is_ready ? (VipsPel *)vips->vips_image_get_data(memory) : NULL;
    int is_copied = bytes && cimaging_read_rows(vips, *image, bytes) == 0;
    vips->g_object_unref(*image);
    if (memory && !is_copied) vips->g_object_unref(memory);
    *image = is_copied ? memory : NULL;
    return is_copied ? 0 : -1;
}

/* Averages rows by the same rule as they are decoded, so that memory holds little more than the output of a large
 * picture. Pictures with transparency are excluded, since their colours would need weights. */
static int shrink_rows(Library vips, VipsImage **image, double factor) {
    int times = (int)(factor / 2);
    int width = vips->vips_image_get_width(*image), height = vips->vips_image_get_height(*image);
    VipsImage *next = NULL;
    if (times < 2 || vips->vips_image_hasalpha(*image)) return 0;
    /* At least one pixel remains in each direction: libvips aborts the process on an empty picture. */
    int across = times < width ? times : width, down = times < height ? times : height;
    if (vips->vips_shrink(*image, &next, across, down, NULL) != 0) return -1;
    vips->g_object_unref(*image);
    *image = next;
    return 0;
}

/* Whether a file is decoded as its rows are used: a large upright PNG file always, since the decoder cannot reduce it
 * and it must not be in memory as a whole; other upright PNG and JPEG files if the request permits it. */
static int is_streamed(
    Library vips, const cimaging_source *source, int may_stream, VipsImage *image) {
    const int64_t large = 16000000;
    int64_t pixels = (int64_t)vips->vips_image_get_width(image) * vips->vips_image_get_height(image);
    if (vips->vips_image_get_orientation(image) > 1) return 0;
    if (is_png(source) && pixels > large) return 1;
    return may_stream && (is_png(source) || is_jpeg(source));
}

/* Notes libjpeg's first warning of damage: it guesses the pixels behind it. Bytes before a marker belong to no pixel. */
static void note_damage(Library vips, cimaging_result *result) {
    static const char mark[] = "Corrupt JPEG data: ";
    const char *found = vips->vips_error_buffer();
    while ((found = strstr(found, mark))) {
        found += strlen(mark);
        int length = (int)strcspn(found, "\n");
        const char *harmless = strstr(found, "extraneous bytes before marker");
        if (harmless && harmless < found + length) continue;
        snprintf(result->message, sizeof result->message, "%.*s", length, found);
        return;
    }
}

cimaging_status cimaging_decode(
    Library vips, const cimaging_source *source, const cimaging_request *request, int may_stream, VipsImage **image,
    int *is_stream, cimaging_result *result) {
    double factor = reduction(source, request);
    int shrink = shrinks(source) ? shrink_on_load(factor) : 1;
    /* libvips rounds the decoder's size down, and aborts the process on an empty picture. */
    while (shrink > source->width || shrink > source->height) shrink /= 2;
    if (shrink < 1) shrink = 1;
    *is_stream = 0;
    cimaging_status status = cimaging_open(vips, source, shrink, image, result);
    if (status != CIMAGING_OK || source->bands != 0) return status;
    int failed = shrink_rows(vips, image, factor / shrink) != 0;
    *is_stream = !failed && is_streamed(vips, source, may_stream, *image);
    failed = failed || (!*is_stream && copy_to_memory(vips, image) != 0);
    /* libjpeg only warns when pixels are missing, and fills them with grey. */
    if (!failed && !strstr(vips->vips_error_buffer(), "premature end of data segment")) {
        if (!*is_stream && is_jpeg(source)) note_damage(vips, result);
        return CIMAGING_OK;
    }
    if (*image) vips->g_object_unref(*image);
    *image = NULL;
    return cimaging_fail(vips, CIMAGING_UNREADABLE, result);
}
