/* The commonest work without libvips's operations: an ordinary JPEG file, or pixels, into pixels, JPEG or PNG.
 *
 * libvips takes longer to put its operations together than a photograph of ordinary size takes to decode; here rows go from
 * the decoder to the encoder, or into the smaller picture, without the whole picture ever being in memory. */
#ifndef CIMAGING_PLAIN_H
#define CIMAGING_PLAIN_H

#include "CImaging.h"
#include "library.h"

/* Whether the work is done. It is not where the picture is less than ordinary, or anything is wrong with it: libvips sees it
 * then, and says what. May be called by several threads at once. */
int cimaging_render_plain(
    const struct cimaging_library *vips, const cimaging_source *source, const cimaging_request *request,
    cimaging_result *result);

#endif
