/* From a source's bytes to a picture in memory. */
#ifndef CIMAGING_DECODING_H
#define CIMAGING_DECODING_H

#include "CImaging.h"
#include "library.h"

/* Opens a picture: its header is read and held against the limit, its pixels are not decoded. When they are, the picture
 * is `shrink` times smaller, where its format offers that; 1: as large as it is. */
cimaging_status cimaging_open(
    const struct cimaging_library *vips, const cimaging_source *source, int shrink, VipsImage **image,
    cimaging_result *result);

/* Opens a picture and decodes it, no larger than the request needs where the format offers that. With `*is_stream` it is
 * decoded later, as its rows are used: whether that went well is told by libvips's errors alone. It is when the
 * picture is large, and when it may be. */
cimaging_status cimaging_decode(
    const struct cimaging_library *vips, const cimaging_source *source, const cimaging_request *request,
    int may_stream, VipsImage **image, int *is_stream, cimaging_result *result);

/* The rows of a picture, one behind the other, made on this thread. */
int cimaging_read_rows(const struct cimaging_library *vips, VipsImage *image, VipsPel *bytes);

/* Whether the calling thread's work on pictures has to stop. */
int cimaging_is_stopped(void);

/* Fills in libvips's words and forgets them. */
cimaging_status cimaging_fail(
    const struct cimaging_library *vips, cimaging_status status, cimaging_result *result);

#endif
