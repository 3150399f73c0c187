/* What a picture's file says about itself, beside its pixels. */
#ifndef CIMAGING_METADATA_H
#define CIMAGING_METADATA_H

#include "CImaging.h"
#include "library.h"

/* Replaces the picture by one with no more metadata than asked for; 0, or -1 with libvips's error. */
int cimaging_keep_metadata(
    const struct cimaging_library *vips, const cimaging_request *request, VipsImage **image);

/* Names and values of the EXIF fields, each ended by NUL, into the result's bytes. */
void cimaging_collect_exif(const struct cimaging_library *vips, VipsImage *image, cimaging_result *result);

#endif
