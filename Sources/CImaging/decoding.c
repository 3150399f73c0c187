#include "decoding.h"

#include <stdio.h>
#include <string.h>

typedef const struct cimaging_library *Library;

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

cimaging_status cimaging_open(
    Library vips, const cimaging_source *source, const char *options, VipsImage **image, cimaging_result *result) {
    if (source->bands != 0)
        *image = open_pixels(vips, source);
    else
        *image = vips->vips_image_new_from_buffer(
            source->bytes, source->length, options, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on",
            VIPS_FAIL_ON_TRUNCATED, NULL);
    if (!*image) return cimaging_fail(vips, CIMAGING_UNREADABLE, result);
    int64_t width = vips->vips_image_get_width(*image), height = vips->vips_image_get_height(*image);
    /* A pixel of many bands or much depth counts for as many as its bytes make. */
    int64_t weight = (int64_t)(bytes_per_pixel(vips, *image) + 3) / 4;
    if (width * height <= source->pixel_limit / weight) return CIMAGING_OK;
    vips->g_object_unref(*image);
    *image = NULL;
    result->width = (int32_t)width;
    result->height = (int32_t)height;
    return CIMAGING_TOO_MANY_PIXELS;
}

/* How many times smaller the decoder may make the picture: half of what resizing will, so that it does the fine work. */
static int shrink_on_load(const cimaging_source *source, const cimaging_request *request) {
    if (request->mode == CIMAGING_AS_IS) return 1;
    double across = (double)source->width / request->width, down = (double)source->height / request->height;
    double factor = (request->mode == CIMAGING_FIT) == (across > down) ? across : down;
    return factor >= 16 ? 8 : factor >= 8 ? 4 : factor >= 4 ? 2 : 1;
}

/* The loader's option for decoding a picture smaller than it is; none when its format has none. */
static void shrink_option(const cimaging_source *source, int shrink, char *option, size_t capacity) {
    const unsigned char *bytes = source->bytes;
    if (source->bands != 0 || shrink == 1 || source->length < 12) return;
    if (bytes[0] == 0xff && bytes[1] == 0xd8) snprintf(option, capacity, "shrink=%d", shrink);
    if (memcmp(bytes, "RIFF", 4) == 0 && memcmp(bytes + 8, "WEBP", 4) == 0)
        snprintf(option, capacity, "scale=0.%d", 1000 / shrink);
}

/* Rows into memory, in order and on this thread.
 *
 * libvips's own way, its pool of threads, at times takes a picture that fails to decode for a good one (8.14.1: small
 * ones, by a race; ones that are resized, always). The rows of a region fail where they are asked for. */
static int copy_rows(Library vips, VipsImage *image, VipsImage *memory, VipsRegion *region) {
    int width = vips->vips_image_get_width(image), height = vips->vips_image_get_height(image);
    for (int top = 0; top < height; top += 16) {
        VipsRect strip = {0, top, width, height - top < 16 ? height - top : 16};
        if (vips->vips_region_prepare(region, &strip) != 0) return -1;
        for (int row = top; row < top + strip.height; row++) {
            VipsPel *line = region->data + (size_t)(row - region->valid.top) * (size_t)region->bpl -
                            (size_t)region->valid.left * bytes_per_pixel(vips, image);
            if (vips->vips_image_write_line(memory, row, line) != 0) return -1;
        }
    }
    return 0;
}

static int copy_to_memory(Library vips, VipsImage **image) {
    VipsImage *memory = vips->vips_image_new_memory();
    VipsRegion *region = vips->vips_region_new(*image);
    int status = -1;
    if (memory && region && vips->vips_image_pipelinev(memory, VIPS_DEMAND_STYLE_ANY, *image, NULL) == 0 &&
        vips->vips_image_write_prepare(memory) == 0)
        status = copy_rows(vips, *image, memory, region);
    if (region) vips->g_object_unref(region);
    vips->g_object_unref(*image);
    *image = memory;
    if (status != 0 && memory) {
        vips->g_object_unref(memory);
        *image = NULL;
    }
    return status;
}

/* Whether a file is decoded as its rows are used, so that all of it is never in memory: a large PNG file, which has no
 * smaller version for the decoder to make, and of which rows are asked for in their order. */
static int is_streamed(Library vips, const cimaging_source *source, VipsImage *image) {
    const int64_t large = 16000000;
    int64_t pixels = (int64_t)vips->vips_image_get_width(image) * vips->vips_image_get_height(image);
    return source->bands == 0 && source->length > 4 && memcmp(source->bytes, "\x89PNG", 4) == 0 && pixels > large &&
           vips->vips_image_get_orientation(image) <= 1;
}

cimaging_status cimaging_decode(
    Library vips, const cimaging_source *source, const cimaging_request *request, VipsImage **image,
    int *is_stream, cimaging_result *result) {
    char option[32] = "";
    shrink_option(source, shrink_on_load(source, request), option, sizeof option);
    cimaging_status status = cimaging_open(vips, source, option, image, result);
    if (status != CIMAGING_OK) return status;
    *is_stream = is_streamed(vips, source, *image);
    if (source->bands == 0 && !*is_stream && copy_to_memory(vips, image) != 0) return cimaging_fail(vips, CIMAGING_UNREADABLE, result);
    return CIMAGING_OK;
}
