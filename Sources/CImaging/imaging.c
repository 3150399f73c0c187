#include "CImaging.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "decoding.h"
#include "metadata.h"
#include "profile.h"

typedef const struct cimaging_library *Library;

static void replace(Library vips, VipsImage **image, VipsImage *next) {
    vips->g_object_unref(*image);
    *image = next;
}

static Library ready(cimaging_result *result) {
    const char *why;
    Library vips = cimaging_library(&why);
    memset(result, 0, sizeof *result);
    if (!vips) snprintf(result->message, sizeof result->message, "%s", why);
    return vips;
}

/* A colour profile other than sRGB. That of a picture in L*a*b* says nothing that the picture does not. */
static int has_foreign_profile(Library vips, VipsImage *image) {
    const void *profile;
    size_t length;
    VipsInterpretation interpretation = vips->vips_image_get_interpretation(image);
    if (interpretation == VIPS_INTERPRETATION_LAB || interpretation == VIPS_INTERPRETATION_LABS) return 0;
    if (vips->vips_image_get_typeof(image, VIPS_META_ICC_NAME) == 0) return 0;
    if (vips->vips_image_get_blob(image, VIPS_META_ICC_NAME, &profile, &length) != 0) {
        vips->vips_error_clear();
        return 0;
    }
    return !cimaging_is_srgb(profile, length);
}

/* Resizes an upright, opaque picture in 8-bit sRGB. It needs three of vips_thumbnail_image's twenty operations; each
 * takes longer to set up than a small picture takes to process. */
static int resize_plain(Library vips, const cimaging_request *request, VipsImage **image) {
    VipsImage *next = NULL;
    double width = vips->vips_image_get_width(*image), height = vips->vips_image_get_height(*image);
    double across = request->width / width, down = request->height / height;
    double factor = (request->mode == CIMAGING_FIT) == (across < down) ? across : down;
    if (request->mode != CIMAGING_STRETCH) across = down = factor;
    if (across * width < 1) across = 1 / width;
    if (down * height < 1) down = 1 / height;
    if (vips->vips_resize(*image, &next, across, "vscale", down, NULL) != 0) return -1;
    replace(vips, image, next);
    int left = vips->vips_image_get_width(*image) - request->width, top = vips->vips_image_get_height(*image) - request->height;
    if (request->mode != CIMAGING_FILL || (left == 0 && top == 0)) return 0;
    if (vips->vips_extract_area(*image, &next, left / 2, top / 2, request->width, request->height, NULL) != 0) return -1;
    replace(vips, image, next);
    return 0;
}

static int is_plain(Library vips, VipsImage *image) {
    return vips->vips_image_get_interpretation(image) == VIPS_INTERPRETATION_sRGB &&
           vips->vips_image_get_format(image) == VIPS_FORMAT_UCHAR && vips->vips_image_get_bands(image) == 3 &&
           vips->vips_image_get_orientation(image) <= 1 && !has_foreign_profile(vips, image);
}

static int turn_upright(Library vips, VipsImage **image) {
    VipsImage *next = NULL;
    if (vips->vips_image_get_orientation(*image) <= 1) return 0;
    if (vips->vips_autorot(*image, &next, NULL) != 0) return -1;
    replace(vips, image, next);
    return 0;
}

/* Crops a picture before it is enlarged and filled from the middle. Otherwise a picture of one line would exceed
 * libvips's maximum width, which takes half a minute. */
static int crop_before_enlarging(Library vips, const cimaging_request *request, VipsImage **image) {
    int is_turned = vips->vips_image_get_orientation(*image) >= 5;
    int width = vips->vips_image_get_width(*image), height = vips->vips_image_get_height(*image);
    double across = (double)request->width / (is_turned ? height : width);
    double down = (double)request->height / (is_turned ? width : height);
    double factor = across > down ? across : down;
    VipsImage *next = NULL;
    if (request->mode != CIMAGING_FILL || factor <= 1) return 0;
    if (turn_upright(vips, image) != 0) return -1;
    width = vips->vips_image_get_width(*image), height = vips->vips_image_get_height(*image);
    int left_width = (int)ceil(request->width / factor), left_height = (int)ceil(request->height / factor);
    if (left_width > width) left_width = width;
    if (left_height > height) left_height = height;
    if (vips->vips_extract_area(
            *image, &next, (width - left_width) / 2, (height - left_height) / 2, left_width, left_height, NULL) != 0)
        return -1;
    replace(vips, image, next);
    return 0;
}

/* Resizes the picture and turns it upright. */
static int resize(Library vips, const cimaging_request *request, VipsImage **image) {
    if (crop_before_enlarging(vips, request, image) != 0) return -1;
    if (is_plain(vips, *image)) return resize_plain(vips, request, image);
    VipsSize size = request->mode == CIMAGING_STRETCH ? VIPS_SIZE_FORCE : VIPS_SIZE_BOTH;
    VipsInteresting crop = request->mode == CIMAGING_FILL ? VIPS_INTERESTING_CENTRE : VIPS_INTERESTING_NONE;
    VipsImage *next = NULL;
    int status = has_foreign_profile(vips, *image)
        ? vips->vips_thumbnail_image(
              *image, &next, request->width, "height", request->height, "size", size, "crop", crop, "export_profile",
              "srgb", NULL)
        : vips->vips_thumbnail_image(
              *image, &next, request->width, "height", request->height, "size", size, "crop", crop, NULL);
    if (status == 0) replace(vips, image, next);
    return status;
}

/* 8-bit sRGB, three bands, or four with transparency. */
static int convert_to_srgb(Library vips, VipsImage **image, int is_profile_applied) {
    VipsImage *next = NULL;
    if (!is_profile_applied && has_foreign_profile(vips, *image)) {
        if (vips->vips_icc_transform(*image, &next, "srgb", "embedded", TRUE, NULL) == 0)
            replace(vips, image, next);
        else
            vips->vips_error_clear(); /* A broken profile: the colours are taken as they are. */
    }
    if (vips->vips_image_get_interpretation(*image) != VIPS_INTERPRETATION_sRGB) {
        if (vips->vips_colourspace(*image, &next, VIPS_INTERPRETATION_sRGB, NULL) != 0) return -1;
        replace(vips, image, next);
    }
    if (vips->vips_image_get_format(*image) != VIPS_FORMAT_UCHAR) {
        if (vips->vips_cast_uchar(*image, &next, NULL) != 0) return -1;
        replace(vips, image, next);
    }
    if (vips->vips_image_get_bands(*image) > 4) {
        if (vips->vips_extract_band(*image, &next, 0, "n", 4, NULL) != 0) return -1;
        replace(vips, image, next);
    }
    return 0;
}

static int flatten(Library vips, VipsImage **image, double grey) {
    VipsImage *next = NULL;
    if (vips->vips_image_get_bands(*image) != 4) return 0;
    VipsArrayDouble *background = vips->vips_array_double_newv(1, grey);
    int status = vips->vips_flatten(*image, &next, "background", background, NULL);
    vips->vips_area_unref((VipsArea *)background);
    if (status == 0) replace(vips, image, next);
    return status;
}

/* Reduces the picture to the best 256 colours, through a PNG file with a palette, libvips's only quantiser. */
static int quantise(Library vips, VipsImage **image, VipsBlob **file) {
    void *bytes = NULL;
    size_t length = 0;
    if (vips->vips_pngsave_buffer(
            *image, &bytes, &length, "palette", TRUE, "bitdepth", 8, "dither", 1.0, "compression", 0, "strip", TRUE,
            NULL) != 0)
        return -1;
    *file = vips->vips_blob_new((VipsCallbackFn)vips->g_free, bytes, length);
    VipsImage *next = vips->vips_image_new_from_buffer(bytes, length, "", NULL);
    if (!next) return -1;
    replace(vips, image, next);
    return convert_to_srgb(vips, image, 1);
}

static int write_pixels(Library vips, VipsImage *image, cimaging_result *result) {
    size_t pixels = (size_t)vips->vips_image_get_width(image) * (size_t)vips->vips_image_get_height(image);
    if (pixels >= CIMAGING_LARGE) {
        result->bytes = vips->vips_image_write_to_memory(image, &result->length);
        return result->bytes ? 0 : -1;
    }
    result->length = pixels * (size_t)vips->vips_image_get_bands(image);
    result->bytes = vips->g_malloc(result->length);
    return cimaging_read_rows(vips, image, result->bytes);
}

static int write_image(
    Library vips, const cimaging_request *request, VipsImage **image, cimaging_result *result) {
    switch (request->output) {
    case CIMAGING_JPEG:
        if (flatten(vips, image, 255) != 0) return -1;
        return vips->vips_jpegsave_buffer(
            *image, &result->bytes, &result->length, "Q", request->quality, "strip",
            request->metadata == CIMAGING_NO_METADATA, NULL);
    case CIMAGING_PNG:
        return vips->vips_pngsave_buffer(
            *image, &result->bytes, &result->length, "strip", request->metadata == CIMAGING_NO_METADATA, NULL);
    case CIMAGING_RGB:
        if (flatten(vips, image, request->background) != 0) return -1;
        if (request->is_reduced) {
            VipsBlob *file = NULL;
            int status = quantise(vips, image, &file);
            if (status == 0) status = write_pixels(vips, *image, result);
            /* The picture uses the file's bytes until it is released. */
            if (file) vips->vips_area_unref((VipsArea *)file);
            return status;
        }
        break;
    case CIMAGING_PIXELS:
        break;
    }
    return write_pixels(vips, *image, result);
}

/* libvips has one error buffer for all threads and one number of threads for all pictures, so a picture takes the lock
 * exclusively. Threads that declare parallel work share it for small pictures, with one thread each. Errors cannot be
 * assigned to a picture then, so a failed one is repeated alone. */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static _Thread_local int is_concurrent;

void cimaging_set_concurrent(int value) { is_concurrent = value; }

/* An operation on a source with the lock held. */
typedef cimaging_status (*Work)(
    Library vips, const cimaging_source *source, const cimaging_request *request, int may_stream, cimaging_result *result);

static cimaging_status measure(
    Library vips, const cimaging_source *source, const cimaging_request *request, int may_stream,
    cimaging_result *result) {
    (void)request, (void)may_stream;
    VipsImage *image;
    cimaging_status status = cimaging_open(vips, source, 1, &image, result);
    if (status != CIMAGING_OK) return status;
    result->width = vips->vips_image_get_width(image);
    result->height = vips->vips_image_get_height(image);
    if (vips->vips_image_get_orientation(image) >= 5) {
        int32_t width = result->width;
        result->width = result->height;
        result->height = width;
    }
    vips->g_object_unref(image);
    return CIMAGING_OK;
}

static cimaging_status read_exif(
    Library vips, const cimaging_source *source, const cimaging_request *request, int may_stream,
    cimaging_result *result) {
    (void)request, (void)may_stream;
    VipsImage *image;
    cimaging_status status = cimaging_open(vips, source, 1, &image, result);
    if (status != CIMAGING_OK) return status;
    cimaging_collect_exif(vips, image, result);
    vips->g_object_unref(image);
    return CIMAGING_OK;
}

/* Called by libvips on the thread that waits for its pool. */
static void look(VipsImage *image, void *progress, void *context) {
    (void)progress;
    Library vips = context;
    if (cimaging_is_stopped()) vips->vips_image_set_kill(image, TRUE);
}

/* Checks for an interruption in all later operations on the picture. */
static void watch(Library vips, VipsImage *image) {
    if (!cimaging_can_stop()) return;
    vips->vips_image_set_progress(image, TRUE);
    vips->g_signal_connect_data(image, "eval", (GCallback)(void *)look, (void *)vips, NULL, 0);
}

static cimaging_status render(
    Library vips, const cimaging_source *source, const cimaging_request *request, int may_stream,
    cimaging_result *result) {
    VipsImage *image;
    int is_stream;
    cimaging_status status = cimaging_decode(vips, source, request, may_stream, &image, &is_stream, result);
    if (status != CIMAGING_OK) return status;
    watch(vips, image);
    int is_resized = request->mode != CIMAGING_AS_IS;
    int failed = is_resized ? resize(vips, request, &image) : turn_upright(vips, &image);
    failed = failed || convert_to_srgb(vips, &image, is_resized);
    failed = failed || cimaging_keep_metadata(vips, request, &image) || write_image(vips, request, &image, result);
    if (!failed) {
        result->width = vips->vips_image_get_width(image);
        result->height = vips->vips_image_get_height(image);
        result->bands = vips->vips_image_get_bands(image);
    }
    vips->g_object_unref(image);
    if (!failed && is_stream && vips->vips_error_buffer()[0] != '\0') {
        /* Undecodable rows are black, and libvips continues. */
        vips->g_free(result->bytes);
        memset(result, 0, sizeof *result);
        return cimaging_fail(vips, CIMAGING_UNREADABLE, result);
    }
    return failed ? cimaging_fail(vips, is_stream ? CIMAGING_UNREADABLE : CIMAGING_FAILED, result) : CIMAGING_OK;
}

/* Whether decoding and encoding may be interleaved. Damage is detected by the other path. */
static int is_streamable(const cimaging_request *request) {
    return request && request->mode == CIMAGING_AS_IS && request->output == CIMAGING_JPEG;
}

static cimaging_status perform_alone(
    Library vips, Work work, int64_t pixels, const cimaging_source *source, const cimaging_request *request,
    cimaging_result *result) {
    pthread_rwlock_wrlock(&lock);
    vips->vips_error_clear();
    cimaging_use_threads(vips, pixels);
    cimaging_status status = work(vips, source, request, is_streamable(request), result);
    if (status != CIMAGING_OK && status != CIMAGING_TOO_MANY_PIXELS && is_streamable(request)) {
        memset(result, 0, sizeof *result);
        vips->vips_error_clear();
        status = work(vips, source, request, 0, result);
    }
    cimaging_use_threads(vips, 0);
    vips->vips_error_clear();
    pthread_rwlock_unlock(&lock);
    return status;
}

/* Runs an operation on a picture of that many pixels, under the lock. */
static cimaging_status perform(
    Work work, int64_t pixels, const cimaging_source *source, const cimaging_request *request,
    cimaging_result *result) {
    Library vips = ready(result);
    if (!vips) return CIMAGING_LIBRARY_MISSING;
    cimaging_status status = CIMAGING_FAILED;
    if (is_concurrent && pixels < CIMAGING_LARGE && source->drawing_scale <= 0) {
        pthread_rwlock_rdlock(&lock);
        status = work(vips, source, request, 0, result);
        pthread_rwlock_unlock(&lock);
        /* A warning, too, may be another picture's. */
        if (status == CIMAGING_OK && result->message[0]) {
            vips->g_free(result->bytes);
            status = CIMAGING_FAILED;
        }
        if (status != CIMAGING_OK) memset(result, 0, sizeof *result);
    }
    if (status != CIMAGING_OK) status = perform_alone(vips, work, pixels, source, request, result);
    /* The thread may end now. */
    vips->vips_thread_shutdown();
    return status;
}

cimaging_status cimaging_exif(const cimaging_source *source, cimaging_result *result) {
    return perform(read_exif, 0, source, NULL, result);
}

cimaging_status cimaging_measure(const cimaging_source *source, cimaging_result *result) {
    return perform(measure, 0, source, NULL, result);
}

cimaging_status cimaging_render(
    const cimaging_source *source, const cimaging_request *request, cimaging_result *result) {
    return perform(render, (int64_t)source->width * source->height, source, request, result);
}

void cimaging_free(void *bytes) {
    const char *why;
    Library vips = cimaging_library(&why);
    if (vips) vips->g_free(bytes);
}
