/* What libvips alone takes for the work of a picture, in C, on one thread, without files being written: floor IN STORED.
 *
 * Prints a name and a rate a line: pictures of IN turned upright, brought to sRGB and coded as JPEG of quality 50, and
 * pictures of STORED made 40 by 40 from the middle and coded as PNG. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <vips/vips.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int recode(void *bytes, size_t length) {
    VipsImage *image = vips_image_new_from_buffer(bytes, length, "", "access", VIPS_ACCESS_SEQUENTIAL, NULL);
    VipsImage *next = NULL;
    const void *profile;
    size_t size;
    void *out;
    if (!image) return -1;
    if (vips_image_get_orientation(image) > 1) {
        if (vips_autorot(image, &next, NULL) != 0) return -1;
        g_object_unref(image);
        image = next;
    }
    if (vips_image_get_typeof(image, VIPS_META_ICC_NAME) != 0 &&
        vips_image_get_blob(image, VIPS_META_ICC_NAME, &profile, &size) == 0 &&
        !memmem(profile, size < 4096 ? size : 4096, "sRGB", 4)) {
        if (vips_icc_transform(image, &next, "srgb", "embedded", TRUE, NULL) != 0) return -1;
        g_object_unref(image);
        image = next;
    }
    int status = vips_jpegsave_buffer(image, &out, &size, "Q", 50, "strip", TRUE, NULL);
    if (status == 0) g_free(out);
    g_object_unref(image);
    return status;
}

static int thumbnail(void *bytes, size_t length) {
    VipsImage *image;
    void *out;
    size_t size;
    if (vips_thumbnail_buffer(bytes, length, &image, 40, "height", 40, "crop", VIPS_INTERESTING_CENTRE, NULL) != 0)
        return -1;
    int status = vips_pngsave_buffer(image, &out, &size, "strip", TRUE, NULL);
    if (status == 0) g_free(out);
    g_object_unref(image);
    return status;
}

static void measure(const char *name, const char *folder, int (*work)(void *, size_t)) {
    DIR *entries = opendir(folder);
    int count = 0;
    double start = now();
    for (struct dirent *entry; entries && (entry = readdir(entries)) != NULL;) {
        char path[4096];
        char *bytes;
        gsize length;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] == '.' || !g_file_get_contents(path, &bytes, &length, NULL)) continue;
        if (work(bytes, length) != 0) vips_error_exit("%s", path);
        g_free(bytes);
        count++;
    }
    if (entries) closedir(entries);
    printf("%s\t%f\n", name, count / (now() - start));
}

int main(int count, char **arguments) {
    if (count != 3 || VIPS_INIT(arguments[0]) != 0) return 1;
    vips_concurrency_set(1);
    vips_cache_set_max(0);
    measure("set", arguments[1], recode);
    measure("thumbnail", arguments[2], thumbnail);
    return 0;
}
