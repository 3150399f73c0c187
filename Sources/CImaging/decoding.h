/* Decodes a source's bytes to a picture in memory. */
#ifndef CIMAGING_DECODING_H
#define CIMAGING_DECODING_H

#include "CImaging.h"
#include "library.h"

/* Opens a picture: reads its header and checks the limit, without decoding. The picture will be `shrink` times smaller
 * if its format supports that; 1 for the full size. */
cimaging_status cimaging_open(
    const struct cimaging_library *vips, const cimaging_source *source, int shrink, VipsImage **image,
    cimaging_result *result);

/* Opens a picture and decodes it, reduced as far as the request and the format allow. With `*is_stream` it is decoded
 * later, as its rows are used, and only libvips's errors report a failure. Large PNG files are always streamed, others
 * if permitted. */
cimaging_status cimaging_decode(
    const struct cimaging_library *vips, const cimaging_source *source, const cimaging_request *request,
    int may_stream, VipsImage **image, int *is_stream, cimaging_result *result);

/* Reads the rows of a picture contiguously, on this thread. */
int cimaging_read_rows(const struct cimaging_library *vips, VipsImage *image, VipsPel *bytes);

/* Whether the calling thread's work on pictures can be interrupted; whether it is. */
int cimaging_can_stop(void);
int cimaging_is_stopped(void);

/* Copies libvips's message to the result and clears it. */
cimaging_status cimaging_fail(
    const struct cimaging_library *vips, cimaging_status status, cimaging_result *result);

#endif
