/* Rows of RGB pixels, as they come from a decoder, into fewer and shorter ones. */
#ifndef CIMAGING_RESAMPLING_H
#define CIMAGING_RESAMPLING_H

#include <stdint.h>

/* One axis: the part of a line of `size` samples that makes `count` new ones. */
typedef struct cimaging_axis {
    int32_t size, count;
    /* Where the part begins, and how many samples each new one stands for, at least 1. */
    double start, step;
} cimaging_axis;

/* What goes on; see cimaging_resampler_begin. */
typedef struct cimaging_resampler cimaging_resampler;

/* NULL when there is no memory. To be ended by cimaging_resampler_end. */
cimaging_resampler *cimaging_resampler_begin(cimaging_axis across, cimaging_axis down);

/* Takes the next row of `across.size` pixels of three bytes. */
void cimaging_resampler_add(cimaging_resampler *resampler, const uint8_t *row);

/* Writes `down.count` rows of `across.count` pixels, when all rows have been added. */
void cimaging_resampler_finish(const cimaging_resampler *resampler, uint8_t *pixels);

void cimaging_resampler_end(cimaging_resampler *resampler);

#endif
