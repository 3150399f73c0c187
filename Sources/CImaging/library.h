/* The used functions of libvips, GObject and GLib by name, in a table filled by dlsym. */
#ifndef CIMAGING_LIBRARY_H
#define CIMAGING_LIBRARY_H

#include <stdint.h>

#include "libvips.h"

#define CIMAGING_FUNCTIONS(F) \
    F(g_free) \
    F(g_log_set_handler) \
    F(g_malloc) \
    F(g_object_unref) \
    F(g_signal_connect_data) \
    F(g_strfreev) \
    F(vips_area_unref) \
    F(vips_array_double_newv) \
    F(vips_autorot) \
    F(vips_blob_new) \
    F(vips_block_untrusted_set) \
    F(vips_cache_set_max) \
    F(vips_cache_set_max_files) \
    F(vips_cache_set_max_mem) \
    F(vips_cast_uchar) \
    F(vips_colourspace) \
    F(vips_concurrency_get) \
    F(vips_concurrency_set) \
    F(vips_copy) \
    F(vips_error_buffer) \
    F(vips_error_buffer_copy) \
    F(vips_error_clear) \
    F(vips_extract_area) \
    F(vips_extract_band) \
    F(vips_flatten) \
    F(vips_format_sizeof) \
    F(vips_icc_transform) \
    F(vips_image_get_bands) \
    F(vips_image_get_blob) \
    F(vips_image_get_data) \
    F(vips_image_get_fields) \
    F(vips_image_get_format) \
    F(vips_image_get_height) \
    F(vips_image_get_interpretation) \
    F(vips_image_get_orientation) \
    F(vips_image_get_string) \
    F(vips_image_get_typeof) \
    F(vips_image_get_width) \
    F(vips_image_hasalpha) \
    F(vips_image_new_from_buffer) \
    F(vips_image_new_from_memory) \
    F(vips_image_new_memory) \
    F(vips_image_pipelinev) \
    F(vips_image_remove) \
    F(vips_image_set_kill) \
    F(vips_image_set_progress) \
    F(vips_image_write_prepare) \
    F(vips_image_write_to_memory) \
    F(vips_init) \
    F(vips_jpegload_buffer) \
    F(vips_jpegsave_buffer) \
    F(vips_operation_block_set) \
    F(vips_pngsave_buffer) \
    F(vips_region_fetch) \
    F(vips_region_new) \
    F(vips_resize) \
    F(vips_shrink) \
    F(vips_thread_shutdown) \
    F(vips_thumbnail_image) \
    F(vips_type_find) \
    F(vips_vector_set_enabled)

struct cimaging_library {
#define CIMAGING_FIELD(name) __typeof__(name) *name;
    CIMAGING_FUNCTIONS(CIMAGING_FIELD)
#undef CIMAGING_FIELD
};

/* Pictures from this number of pixels on use several threads; a smaller one is finished before a second thread has
 * started. */
enum { CIMAGING_LARGE = 4000000 };

void cimaging_use_threads(const struct cimaging_library *vips, int64_t pixels);

/* The table, filled on the first call; NULL with the reason in `*why` when libvips is not available. */
const struct cimaging_library *cimaging_library(const char **why);

#endif
