#include "plain.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "codecs.h"
#include "profile.h"
#include "resampling.h"

typedef const struct cimaging_codecs *Codecs;

/* What goes on in one call. libjpeg leaves it by longjmp, never over another's frame. */
struct work {
    Codecs codecs;
    const cimaging_source *source;
    const cimaging_request *request;
    struct jpeg_error_mgr errors;
    struct jpeg_decompress_struct input;
    struct jpeg_compress_struct output;
    int has_input, has_output;
    jmp_buf failed;
    cimaging_resampler *resampler;
    uint8_t *row, *pixels;
    struct jpeg_destination_mgr destination;
    uint8_t *file;
    size_t file_length, capacity;
    int32_t width, height;
};

static void fail(j_common_ptr codec) { longjmp(((struct work *)codec->client_data)->failed, 1); }

/* A warning, below 0, is for libvips to judge. */
static void hear(j_common_ptr codec, int level) {
    if (level < 0) fail(codec);
}

static void ignore(j_common_ptr codec) { (void)codec; }

static void listen(struct work *work, j_common_ptr codec) {
    codec->err = work->codecs->jpeg_std_error(&work->errors);
    work->errors.error_exit = fail;
    work->errors.emit_message = hear;
    work->errors.output_message = ignore;
    codec->client_data = work;
}

/* Upright, in sRGB as far as it says, of one scan. */
static int is_ordinary(struct work *work) {
    const struct jpeg_decompress_struct *input = &work->input;
    if (input->data_precision != 8 || work->codecs->jpeg_has_multiple_scans(&work->input)) return 0;
    if (!(input->jpeg_color_space == JCS_YCbCr && input->num_components == 3) &&
        !(input->jpeg_color_space == JCS_GRAYSCALE && input->num_components == 1))
        return 0;
    for (jpeg_saved_marker_ptr marker = input->marker_list; marker; marker = marker->next) {
        if (marker->marker == JPEG_APP0 + 1 && marker->data_length >= 4 && memcmp(marker->data, "Exif", 4) == 0) return 0;
        if (marker->marker == JPEG_APP0 + 2 && marker->data_length >= 12 && memcmp(marker->data, "ICC_PROFILE", 12) == 0 &&
            !cimaging_is_srgb(marker->data, marker->data_length))
            return 0;
    }
    return 1;
}

/* Each axis in the decoder's samples; the shorter picture's are larger than the file's. */
static int plan(struct work *work, cimaging_axis *across, cimaging_axis *down) {
    const cimaging_request *request = work->request;
    double width = work->input.image_width, height = work->input.image_height;
    double wide = width / request->width, high = height / request->height;
    double factor = (request->mode == CIMAGING_FIT) == (wide > high) ? wide : high;
    if (wide < 1 || high < 1) return -1;
    work->width = request->width;
    work->height = request->height;
    if (request->mode == CIMAGING_FIT) {
        work->width = (int32_t)fmax(1, rint(width / factor));
        work->height = (int32_t)fmax(1, rint(height / factor));
    }
    if (request->mode == CIMAGING_FILL) wide = high = factor;
    else wide = width / work->width, high = height / work->height;
    int shrink = factor >= 16 ? 8 : factor >= 8 ? 4 : factor >= 4 ? 2 : 1;
    work->input.scale_num = 1;
    work->input.scale_denom = (unsigned)shrink;
    *across = (cimaging_axis){0, work->width, (width - wide * work->width) / 2 / shrink, wide / shrink};
    *down = (cimaging_axis){0, work->height, (height - high * work->height) / 2 / shrink, high / shrink};
    return across->step < 1 || down->step < 1 ? -1 : 0;
}

/* libjpeg's own destination in memory frees, after an error, what it has handed out. */
static void begin_file(j_compress_ptr output) {
    struct work *work = output->client_data;
    work->capacity = 65536;
    work->file = malloc(work->capacity);
    if (!work->file) fail((j_common_ptr)output);
    work->destination.next_output_byte = work->file;
    work->destination.free_in_buffer = work->capacity;
}

static boolean grow_file(j_compress_ptr output) {
    struct work *work = output->client_data;
    uint8_t *larger = realloc(work->file, work->capacity * 2);
    if (!larger) fail((j_common_ptr)output);
    work->file = larger;
    work->destination.next_output_byte = larger + work->capacity;
    work->destination.free_in_buffer = work->capacity;
    work->capacity *= 2;
    return TRUE;
}

static void end_file(j_compress_ptr output) {
    struct work *work = output->client_data;
    work->file_length = work->capacity - work->destination.free_in_buffer;
}

static void begin_encoding(struct work *work) {
    struct jpeg_compress_struct *output = &work->output;
    listen(work, (j_common_ptr)output);
    work->has_output = 1;
    work->codecs->jpeg_CreateCompress(output, JPEG_LIB_VERSION, sizeof *output);
    work->destination = (struct jpeg_destination_mgr){
        .init_destination = begin_file, .empty_output_buffer = grow_file, .term_destination = end_file};
    output->dest = &work->destination;
    output->image_width = (JDIMENSION)work->width;
    output->image_height = (JDIMENSION)work->height;
    output->input_components = 3;
    output->in_color_space = JCS_RGB;
    work->codecs->jpeg_set_defaults(output);
    work->codecs->jpeg_set_quality(output, work->request->quality, TRUE);
    if (work->request->quality >= 90) output->comp_info[0].h_samp_factor = output->comp_info[0].v_samp_factor = 1;
    work->codecs->jpeg_start_compress(output, TRUE);
}

static void encode_rows(struct work *work, const uint8_t *rows, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        JSAMPROW row = (JSAMPROW)(rows + (size_t)i * (size_t)work->width * 3);
        work->codecs->jpeg_write_scanlines(&work->output, &row, 1);
    }
}

/* Into the encoder, into the smaller picture, or into memory. */
static int decode(struct work *work) {
    struct jpeg_decompress_struct *input = &work->input;
    Codecs codecs = work->codecs;
    int is_jpeg = work->request->output == CIMAGING_JPEG, is_resized = work->request->mode != CIMAGING_AS_IS;
    cimaging_axis across, down;
    listen(work, (j_common_ptr)input);
    work->has_input = 1;
    codecs->jpeg_CreateDecompress(input, JPEG_LIB_VERSION, sizeof *input);
    codecs->jpeg_mem_src(input, work->source->bytes, work->source->length);
    codecs->jpeg_save_markers(input, JPEG_APP0 + 1, 16);
    codecs->jpeg_save_markers(input, JPEG_APP0 + 2, 4096);
    if (codecs->jpeg_read_header(input, TRUE) != JPEG_HEADER_OK || !is_ordinary(work)) return -1;
    if ((int64_t)input->image_width * input->image_height > work->source->pixel_limit) return -1;
    input->out_color_space = JCS_RGB;
    work->width = (int32_t)input->image_width;
    work->height = (int32_t)input->image_height;
    if (is_resized && plan(work, &across, &down) != 0) return -1;
    codecs->jpeg_start_decompress(input);
    if (input->output_components != 3) return -1;
    across.size = (int32_t)input->output_width;
    down.size = (int32_t)input->output_height;
    if (is_resized && !(work->resampler = cimaging_resampler_begin(across, down))) return -1;
    if (!is_jpeg || is_resized) work->pixels = malloc((size_t)work->width * (size_t)work->height * 3);
    else begin_encoding(work);
    work->row = malloc((size_t)input->output_width * 3);
    if (!work->row || (!work->pixels && !work->has_output)) return -1;
    while (input->output_scanline < input->output_height) {
        JSAMPROW row = work->row;
        if (work->pixels && !is_resized) row = work->pixels + (size_t)input->output_scanline * (size_t)work->width * 3;
        codecs->jpeg_read_scanlines(input, &row, 1);
        if (work->resampler) cimaging_resampler_add(work->resampler, row);
        else if (work->has_output) encode_rows(work, row, 1);
    }
    codecs->jpeg_finish_decompress(input);
    if (work->resampler) cimaging_resampler_finish(work->resampler, work->pixels);
    return 0;
}

static int encode_png(struct work *work, const void *pixels, int bands) {
    png_image image = {.version = PNG_IMAGE_VERSION, .width = (png_uint_32)work->width, .height = (png_uint_32)work->height};
    image.format = bands == 4 ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB;
    png_alloc_size_t length = PNG_IMAGE_PNG_SIZE_MAX(image);
    work->file = malloc(length);
    int is_made = work->file && work->codecs->png_image_write_to_memory(&image, work->file, &length, 0, pixels, 0, NULL);
    work->codecs->png_image_free(&image);
    work->file_length = length;
    return is_made ? 0 : -1;
}

static int make(struct work *work) {
    int is_pixels = work->source->bands != 0, bands = is_pixels ? work->source->bands : 3;
    work->width = work->source->width;
    work->height = work->source->height;
    if (!is_pixels && decode(work) != 0) return -1;
    const uint8_t *pixels = is_pixels ? work->source->bytes : work->pixels;
    if (work->request->output == CIMAGING_PNG) return encode_png(work, pixels, bands);
    if (work->request->output != CIMAGING_JPEG) return 0;
    if (!work->has_output) {
        begin_encoding(work);
        encode_rows(work, pixels, work->height);
    }
    work->codecs->jpeg_finish_compress(&work->output);
    return 0;
}

/* Nothing of its own lives across the jump. */
static int run(struct work *work) { return setjmp(work->failed) == 0 ? make(work) : -1; }

/* What is asked for can be done here, as far as can be told before looking. */
static int is_plain(const cimaging_source *source, const cimaging_request *request) {
    const unsigned char *bytes = source->bytes;
    /* Large pictures are worked on by several threads there. */
    const int64_t large = 4000000;
    if (request->metadata != CIMAGING_NO_METADATA || request->is_reduced) return 0;
    int64_t out = request->mode == CIMAGING_AS_IS ? (int64_t)source->width * source->height
                                                  : (int64_t)request->width * request->height;
    if (out > large) return 0;
    if (source->bands == 0) return source->length >= 4 && bytes[0] == 0xff && bytes[1] == 0xd8;
    if (request->mode != CIMAGING_AS_IS || source->width < 1 || source->height < 1) return 0;
    return request->output == CIMAGING_PNG || (request->output == CIMAGING_JPEG && source->bands == 3);
}

int cimaging_render_plain(
    const struct cimaging_library *vips, const cimaging_source *source, const cimaging_request *request,
    cimaging_result *result) {
    Codecs codecs = cimaging_codecs();
    if (!codecs || !is_plain(source, request)) return 0;
    struct work work = {.codecs = codecs, .source = source, .request = request};
    int is_done = run(&work) == 0;
    if (is_done) {
        const void *bytes = work.file ? work.file : work.pixels;
        result->length = work.file ? work.file_length : (size_t)work.width * (size_t)work.height * 3;
        result->bytes = vips->g_malloc(result->length);
        memcpy(result->bytes, bytes, result->length);
        result->width = work.width;
        result->height = work.height;
        result->bands = source->bands != 0 ? source->bands : 3;
    }
    if (work.has_input) codecs->jpeg_destroy_decompress(&work.input);
    if (work.has_output) codecs->jpeg_destroy_compress(&work.output);
    if (work.resampler) cimaging_resampler_end(work.resampler);
    free(work.row);
    free(work.pixels);
    free(work.file);
    return is_done;
}
