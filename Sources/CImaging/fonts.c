/* The installed fonts, as librsvg finds them: by fontconfig, which every librsvg brings along. It is C since the library
 * is looked up at run time, and its functions are called by pointers of their own types. */
#include "CImaging.h"

#include <dlfcn.h>
#include <pthread.h>

/* fontconfig's own types, as far as they are used. */
typedef struct FcPattern FcPattern;
typedef struct FcCharSet FcCharSet;
typedef struct FcObjectSet FcObjectSet;
typedef struct FcConfig FcConfig;
typedef struct {
    int count, capacity;
    FcPattern **fonts;
} FcFontSet;
enum { MATCH = 0 };

#define FUNCTIONS(F) \
    F(FcPattern *, FcPatternCreate, (void)) \
    F(void, FcPatternDestroy, (FcPattern *)) \
    F(FcObjectSet *, FcObjectSetCreate, (void)) \
    F(int, FcObjectSetAdd, (FcObjectSet *, const char *)) \
    F(void, FcObjectSetDestroy, (FcObjectSet *)) \
    F(FcFontSet *, FcFontList, (FcConfig *, FcPattern *, FcObjectSet *)) \
    F(void, FcFontSetDestroy, (FcFontSet *)) \
    F(int, FcPatternGetCharSet, (const FcPattern *, const char *, int, FcCharSet **)) \
    F(int, FcCharSetHasChar, (const FcCharSet *, uint32_t))

static struct {
#define DECLARE(result, name, parameters) result (*name) parameters;
    FUNCTIONS(DECLARE)
#undef DECLARE
} fonts;
static int is_ready;
/* Guards the two variables above, which only the once-function writes. */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_library(void) {
    void *handle = dlopen("libfontconfig.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return;
#define LOOK_UP(result, name, parameters) \
    fonts.name = (__typeof__(fonts.name))dlsym(handle, #name); \
    if (!fonts.name) return;
    FUNCTIONS(LOOK_UP)
#undef LOOK_UP
    is_ready = 1;
}

static int has(const FcFontSet *found, uint32_t character) {
    for (int index = 0; index < found->count; index++) {
        FcCharSet *characters;
        if (fonts.FcPatternGetCharSet(found->fonts[index], "charset", 0, &characters) == MATCH &&
            fonts.FcCharSetHasChar(characters, character))
            return 1;
    }
    return 0;
}

cimaging_fonts cimaging_find_characters(uint32_t *characters, size_t *count) {
    pthread_once(&once, open_library);
    if (!is_ready) return CIMAGING_FONTS_UNKNOWN;
    cimaging_fonts answer = CIMAGING_FONTS_UNKNOWN;
    FcPattern *pattern = fonts.FcPatternCreate();
    FcObjectSet *wanted = fonts.FcObjectSetCreate();
    FcFontSet *found = NULL;
    if (pattern && wanted && fonts.FcObjectSetAdd(wanted, "charset")) found = fonts.FcFontList(NULL, pattern, wanted);
    if (found && found->count == 0) answer = CIMAGING_NO_FONT;
    if (found && found->count > 0) {
        size_t missing = 0;
        for (size_t index = 0; index < *count; index++)
            if (!has(found, characters[index])) characters[missing++] = characters[index];
        *count = missing;
        answer = CIMAGING_FONTS;
    }
    if (found) fonts.FcFontSetDestroy(found);
    if (wanted) fonts.FcObjectSetDestroy(wanted);
    if (pattern) fonts.FcPatternDestroy(pattern);
    return answer;
}
