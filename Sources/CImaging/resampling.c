#include "resampling.h"

#include <math.h>
#include <stdlib.h>

/* Weights are whole numbers of 2^-14: a sum of them times 255 fits into 32 bits with room for what overshoots. */
#define WEIGHT_BITS 14

typedef struct weights {
    /* For each new sample, the first old one, and how many there are. */
    int32_t *first, *length;
    /* `width` of them for each new sample. */
    int32_t *values;
    int32_t width;
} weights;

struct cimaging_resampler {
    cimaging_axis across, down;
    weights columns, rows;
    /* The rows so far, short already. */
    uint8_t *lines;
    int32_t count;
};

/* Catmull and Rom's cubic. */
static double cubic(double x) {
    x = fabs(x);
    if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
    if (x < 2) return ((-0.5 * x + 2.5) * x - 4) * x + 2;
    return 0;
}

static void weigh(weights *weights, const cimaging_axis *axis, int32_t index) {
    double center = axis->start + (index + 0.5) * axis->step, reach = 2 * axis->step, sum = 0;
    int32_t first = (int32_t)(center - reach + 0.5), end = (int32_t)(center + reach + 0.5);
    /* Where rounding or the picture's edge leaves nothing, the nearest sample stands for it. */
    if (first > axis->size - 1) first = axis->size - 1;
    if (first < 0) first = 0;
    if (end > axis->size) end = axis->size;
    if (end <= first) end = first + 1;
    if (end > first + weights->width) end = first + weights->width;
    int32_t *values = weights->values + (size_t)index * (size_t)weights->width;
    for (int32_t i = first; i < end; i++) sum += cubic((i + 0.5 - center) / axis->step);
    int32_t rest = 1 << WEIGHT_BITS, largest = 0;
    for (int32_t i = 0; i < end - first; i++) {
        double weight = sum > 0.001 ? cubic((first + i + 0.5 - center) / axis->step) / sum : i == 0;
        values[i] = (int32_t)lrint(weight * (1 << WEIGHT_BITS));
        rest -= values[i];
        if (values[i] > values[largest]) largest = i;
    }
    /* All together are 1 exactly, so that a plain surface keeps its colour. */
    values[largest] += rest;
    weights->first[index] = first;
    weights->length[index] = end - first;
}

static int prepare(weights *weights, const cimaging_axis *axis) {
    size_t count = (size_t)axis->count;
    weights->width = (int32_t)ceil(4 * axis->step) + 2;
    weights->first = calloc(count, sizeof(int32_t));
    weights->length = calloc(count, sizeof(int32_t));
    weights->values = calloc(count * (size_t)weights->width, sizeof(int32_t));
    if (!weights->first || !weights->length || !weights->values) return -1;
    for (int32_t i = 0; i < axis->count; i++) weigh(weights, axis, i);
    return 0;
}

static void release(weights *weights) {
    free(weights->first);
    free(weights->length);
    free(weights->values);
}

static inline uint8_t clamp(int32_t sum) {
    sum = (sum + (1 << (WEIGHT_BITS - 1))) >> WEIGHT_BITS;
    return (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

cimaging_resampler *cimaging_resampler_begin(cimaging_axis across, cimaging_axis down) {
    cimaging_resampler *resampler = calloc(1, sizeof *resampler);
    if (!resampler) return NULL;
    resampler->across = across;
    resampler->down = down;
    resampler->lines = malloc((size_t)down.size * (size_t)across.count * 3);
    if (resampler->lines && prepare(&resampler->columns, &across) == 0 && prepare(&resampler->rows, &down) == 0)
        return resampler;
    cimaging_resampler_end(resampler);
    return NULL;
}

void cimaging_resampler_add(cimaging_resampler *resampler, const uint8_t *row) {
    const weights *columns = &resampler->columns;
    if (resampler->count >= resampler->down.size) return;
    uint8_t *line = resampler->lines + (size_t)resampler->count * (size_t)resampler->across.count * 3;
    for (int32_t i = 0; i < resampler->across.count; i++, line += 3) {
        const uint8_t *pixel = row + (size_t)columns->first[i] * 3;
        const int32_t *values = columns->values + (size_t)i * (size_t)columns->width;
        int32_t red = 0, green = 0, blue = 0;
        for (int32_t k = 0; k < columns->length[i]; k++, pixel += 3) {
            red += pixel[0] * values[k];
            green += pixel[1] * values[k];
            blue += pixel[2] * values[k];
        }
        line[0] = clamp(red);
        line[1] = clamp(green);
        line[2] = clamp(blue);
    }
    resampler->count++;
}

void cimaging_resampler_finish(const cimaging_resampler *resampler, uint8_t *pixels) {
    const weights *rows = &resampler->rows;
    size_t stride = (size_t)resampler->across.count * 3;
    for (int32_t i = 0; i < resampler->down.count; i++, pixels += stride) {
        const uint8_t *lines = resampler->lines + (size_t)rows->first[i] * stride;
        const int32_t *values = rows->values + (size_t)i * (size_t)rows->width;
        for (size_t x = 0; x < stride; x++) {
            int32_t sum = 0;
            for (int32_t k = 0; k < rows->length[i]; k++) sum += lines[(size_t)k * stride + x] * values[k];
            pixels[x] = clamp(sum);
        }
    }
}

void cimaging_resampler_end(cimaging_resampler *resampler) {
    release(&resampler->columns);
    release(&resampler->rows);
    free(resampler->lines);
    free(resampler);
}
