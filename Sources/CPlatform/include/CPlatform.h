/* What Linux offers and Swift cannot say. */
#ifndef CPLATFORM_H
#define CPLATFORM_H
#endif
