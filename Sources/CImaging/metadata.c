#include "metadata.h"

#include <string.h>

typedef const struct cimaging_library *Library;

static const char exif[] = "exif-";

static int begins(const char *text, const char *beginning) { return strncmp(text, beginning, strlen(beginning)) == 0; }

/* The third directory of EXIF is GPS. The thumbnail, the maker's notes, titles and comments, XMP and IPTC may contain the
 * place as well. The profile is kept while it matches the colours. */
static int reveals_location(const char *name) {
    static const char *const texts[] = {
        "MakerNote", "UserComment", "ImageDescription", "XPTitle", "XPComment", "XPKeywords", "XPSubject"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strstr(name, texts[i])) return 1;
    return begins(name, "exif-ifd3-") || strcmp(name, "exif-ifd0-GPSInfo") == 0 || begins(name, "jpeg-thumbnail") ||
           begins(name, "xmp-") || begins(name, "iptc-") || begins(name, "photoshop-");
}

int cimaging_keep_metadata(Library vips, const cimaging_request *request, VipsImage **image) {
    VipsImage *copy = NULL;
    if (request->metadata != CIMAGING_EXIF_WITHOUT_PLACE) return 0;
    /* The header may be shared, so a copy is changed. */
    if (vips->vips_copy(*image, &copy, NULL) != 0) return -1;
    vips->g_object_unref(*image);
    *image = copy;
    gchar **names = vips->vips_image_get_fields(copy);
    for (int i = 0; names && names[i]; i++)
        if (reveals_location(names[i])) vips->vips_image_remove(copy, names[i]);
    vips->g_strfreev(names);
    return 0;
}

/* Iterates over the fields, and the segment that they are of, twice: to measure, and to write. */
static size_t collect(Library vips, VipsImage *image, gchar **names, char *bytes) {
    size_t length = 0;
    for (int i = 0; names[i]; i++) {
        const char *value;
        if (!begins(names[i], "exif-ifd") || vips->vips_image_get_string(image, names[i], &value) != 0) continue;
        const char *parts[] = {names[i] + strlen(exif), value};
        for (int part = 0; part < 2; part++) {
            size_t size = strlen(parts[part]) + 1;
            if (bytes) memcpy(bytes + length, parts[part], size);
            length += size;
        }
    }
    const void *data;
    size_t size;
    if (vips->vips_image_get_typeof(image, "exif-data") == 0 ||
        vips->vips_image_get_blob(image, "exif-data", &data, &size) != 0)
        return length;
    static const char name[] = "data", digits[] = "0123456789abcdef";
    if (bytes) {
        memcpy(bytes + length, name, sizeof name);
        char *text = bytes + length + sizeof name;
        for (size_t i = 0; i < size; i++) {
            unsigned char byte = ((const unsigned char *)data)[i];
            *text++ = digits[byte >> 4];
            *text++ = digits[byte & 15];
        }
        *text = '\0';
    }
    return length + sizeof name + 2 * size + 1;
}

void cimaging_collect_exif(Library vips, VipsImage *image, cimaging_result *result) {
    gchar **names = vips->vips_image_get_fields(image);
    if (!names) return;
    result->length = collect(vips, image, names, NULL);
    result->bytes = vips->g_malloc(result->length + 1);
    collect(vips, image, names, result->bytes);
    vips->g_strfreev(names);
}
