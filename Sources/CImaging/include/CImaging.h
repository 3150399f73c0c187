/* libvips, opened when the first picture is touched.
 *
 * Why C: linking libvips adds about 38 ms to every start, so its functions are looked up with dlsym; only C can
 * give such a pointer the type that the library's own header declares (`__typeof__`), so that a changed signature is
 * a compile error here and not a crash there. */
#ifndef CIMAGING_H
#define CIMAGING_H
#endif
