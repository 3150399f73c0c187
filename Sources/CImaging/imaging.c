#include "CImaging.h"
#include <vips/vips.h>
__typeof__(vips_image_new_from_file) *p;
