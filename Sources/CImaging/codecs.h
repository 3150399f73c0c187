/* The functions of libjpeg and libpng that are used, which libvips brings along. */
#ifndef CIMAGING_CODECS_H
#define CIMAGING_CODECS_H

#include <stddef.h>
#include <stdio.h>
#include <jpeglib.h>
#include <png.h>

#define CIMAGING_CODEC_FUNCTIONS(F) \
    F(jpeg_CreateCompress) \
    F(jpeg_CreateDecompress) \
    F(jpeg_destroy_compress) \
    F(jpeg_destroy_decompress) \
    F(jpeg_finish_compress) \
    F(jpeg_finish_decompress) \
    F(jpeg_has_multiple_scans) \
    F(jpeg_mem_src) \
    F(jpeg_read_header) \
    F(jpeg_read_scanlines) \
    F(jpeg_save_markers) \
    F(jpeg_set_defaults) \
    F(jpeg_set_quality) \
    F(jpeg_start_compress) \
    F(jpeg_start_decompress) \
    F(jpeg_std_error) \
    F(jpeg_write_scanlines) \
    F(png_image_free) \
    F(png_image_write_to_memory)

struct cimaging_codecs {
#define CIMAGING_FIELD(name) __typeof__(name) *name;
    CIMAGING_CODEC_FUNCTIONS(CIMAGING_FIELD)
#undef CIMAGING_FIELD
};

/* The table; NULL before libvips has been opened, and where one of the two is not with it. */
const struct cimaging_codecs *cimaging_codecs(void);

#endif
