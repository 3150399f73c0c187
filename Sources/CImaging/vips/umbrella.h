/* libvips's headers: CImaging takes its types from here and its functions from dlopen. */
#include <vips/vips.h>
