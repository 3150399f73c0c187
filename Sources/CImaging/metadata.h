/* The metadata of a picture's file. */
#ifndef CIMAGING_METADATA_H
#define CIMAGING_METADATA_H

#include "CImaging.h"
#include "library.h"

/* Replaces the picture by one with the requested metadata only; 0, or -1 with libvips's error. */
int cimaging_keep_metadata(
    const struct cimaging_library *vips, const cimaging_request *request, VipsImage **image);

/* Writes names and values of the EXIF fields, each terminated by NUL, to the result's bytes. */
void cimaging_collect_exif(const struct cimaging_library *vips, VipsImage *image, cimaging_result *result);

#endif
