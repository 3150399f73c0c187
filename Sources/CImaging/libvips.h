/* The part of libvips, GObject and GLib that CImaging calls, declared here: their headers need flags that only
 * pkg-config knows, and programs that use another product of this package should not need to install them. A test
 * compares these declarations with libvips's own; with CIMAGING_CHECKED the types come from there. */
#ifndef CIMAGING_LIBVIPS_H
#define CIMAGING_LIBVIPS_H

#include <stddef.h>
#include <stdint.h>

#define CIMAGING_CONSTANTS(C) \
    C(VIPS_ACCESS_SEQUENTIAL, 1) \
    C(VIPS_DEMAND_STYLE_ANY, 3) \
    C(VIPS_FAIL_ON_TRUNCATED, 1) \
    C(VIPS_FORMAT_SHORT, 3) \
    C(VIPS_FORMAT_UCHAR, 0) \
    C(VIPS_INTERESTING_CENTRE, 1) \
    C(VIPS_INTERESTING_NONE, 0) \
    C(VIPS_INTERPRETATION_B_W, 1) \
    C(VIPS_INTERPRETATION_LAB, 13) \
    C(VIPS_INTERPRETATION_LABS, 21) \
    C(VIPS_INTERPRETATION_MULTIBAND, 0) \
    C(VIPS_INTERPRETATION_sRGB, 22) \
    C(VIPS_SIZE_BOTH, 0) \
    C(VIPS_SIZE_FORCE, 3) \
    C(G_LOG_LEVEL_MASK, ~3)

#ifndef CIMAGING_CHECKED
#define CIMAGING_CONSTANT(name, value) name = value,
enum { CIMAGING_CONSTANTS(CIMAGING_CONSTANT) FALSE = 0, TRUE = 1 };
#undef CIMAGING_CONSTANT
#define VIPS_META_ICC_NAME "icc-profile-data"

typedef char gchar;
typedef int gboolean;
typedef void *gpointer;
typedef unsigned int guint;
typedef unsigned long gulong, gsize, guint64, GType;
typedef void (*GCallback)(void);
typedef int GConnectFlags, GLogLevelFlags;
typedef struct _GClosure GClosure;
typedef void (*GClosureNotify)(gpointer data, GClosure *closure);
typedef void (*GLogFunc)(const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer data);

typedef struct _VipsArea VipsArea, VipsArrayDouble, VipsBlob;
typedef struct _VipsImage VipsImage;
typedef struct _VipsRegion VipsRegion;
typedef unsigned char VipsPel;
typedef int VipsBandFormat, VipsDemandStyle, VipsInteresting, VipsInterpretation, VipsSize;
typedef int (*VipsCallbackFn)(void *a, void *b);
#endif

void g_free(gpointer memory);
guint g_log_set_handler(const gchar *domain, GLogLevelFlags levels, GLogFunc function, gpointer data);
gpointer g_malloc(gsize size);
void g_object_unref(gpointer object);
gulong g_signal_connect_data(
    gpointer instance, const gchar *signal, GCallback handler, gpointer data, GClosureNotify destroy,
    GConnectFlags flags);
void g_strfreev(gchar **texts);
void vips_area_unref(VipsArea *area);
VipsArrayDouble *vips_array_double_newv(int count, ...);
int vips_autorot(VipsImage *in, VipsImage **out, ...);
VipsBlob *vips_blob_new(VipsCallbackFn free, const void *data, size_t length);
void vips_block_untrusted_set(gboolean state);
void vips_cache_set_max(int max);
void vips_cache_set_max_files(int max);
void vips_cache_set_max_mem(size_t max);
int vips_cast_uchar(VipsImage *in, VipsImage **out, ...);
int vips_colourspace(VipsImage *in, VipsImage **out, VipsInterpretation space, ...);
int vips_concurrency_get(void);
void vips_concurrency_set(int concurrency);
int vips_copy(VipsImage *in, VipsImage **out, ...);
const char *vips_error_buffer(void);
char *vips_error_buffer_copy(void);
void vips_error_clear(void);
int vips_extract_area(VipsImage *in, VipsImage **out, int left, int top, int width, int height, ...);
int vips_extract_band(VipsImage *in, VipsImage **out, int band, ...);
int vips_flatten(VipsImage *in, VipsImage **out, ...);
guint64 vips_format_sizeof(VipsBandFormat format);
int vips_icc_transform(VipsImage *in, VipsImage **out, const char *profile, ...);
int vips_image_get_bands(const VipsImage *image);
int vips_image_get_blob(const VipsImage *image, const char *name, const void **data, size_t *length);
const void *vips_image_get_data(VipsImage *image);
gchar **vips_image_get_fields(VipsImage *image);
VipsBandFormat vips_image_get_format(const VipsImage *image);
int vips_image_get_height(const VipsImage *image);
VipsInterpretation vips_image_get_interpretation(const VipsImage *image);
int vips_image_get_orientation(VipsImage *image);
int vips_image_get_string(const VipsImage *image, const char *name, const char **out);
GType vips_image_get_typeof(const VipsImage *image, const char *name);
int vips_image_get_width(const VipsImage *image);
gboolean vips_image_hasalpha(VipsImage *image);
VipsImage *vips_image_new_from_buffer(const void *bytes, size_t length, const char *options, ...);
VipsImage *vips_image_new_from_memory(
    const void *data, size_t size, int width, int height, int bands, VipsBandFormat format);
VipsImage *vips_image_new_memory(void);
int vips_image_pipelinev(VipsImage *image, VipsDemandStyle hint, ...);
gboolean vips_image_remove(VipsImage *image, const char *name);
void vips_image_set_kill(VipsImage *image, gboolean kill);
void vips_image_set_progress(VipsImage *image, gboolean progress);
int vips_image_write_prepare(VipsImage *image);
void *vips_image_write_to_memory(VipsImage *in, size_t *size);
int vips_init(const char *program);
int vips_jpegload_buffer(void *bytes, size_t length, VipsImage **out, ...);
int vips_jpegsave_buffer(VipsImage *in, void **bytes, size_t *length, ...);
void vips_operation_block_set(const char *name, gboolean state);
int vips_pngsave_buffer(VipsImage *in, void **bytes, size_t *length, ...);
VipsPel *vips_region_fetch(VipsRegion *region, int left, int top, int width, int height, size_t *length);
VipsRegion *vips_region_new(VipsImage *image);
int vips_resize(VipsImage *in, VipsImage **out, double scale, ...);
int vips_shrink(VipsImage *in, VipsImage **out, double across, double down, ...);
void vips_thread_shutdown(void);
int vips_thumbnail_image(VipsImage *in, VipsImage **out, int width, ...);
GType vips_type_find(const char *base, const char *nickname);
void vips_vector_set_enabled(gboolean enabled);

#endif
