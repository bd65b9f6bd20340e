/* Issue-to-wait distances of the kernels in a file, without running them: the C interface that
 * libamdhip64.so.7 of wavesim exports for the `wavesim` command. */
#ifndef WAVESIM_STATIC_REPORT_H
#define WAVESIM_STATIC_REPORT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wavesim_distance_request {
  const char* file;      /* a program, library, object file, bundle or code object */
  const char* kernel;    /* only kernels whose name contains this; null or "" is all */
  const char* json;      /* file to write; null or "" prints text to stdout instead */
  int every_load;        /* list all loads, not only the one with the least distance */
  uint64_t least_global; /* fail when a load of a steady loop is nearer to its wait */
  uint64_t least_lds;
} wavesim_distance_request;

/* 0; 1 when a distance is below what was asked for, or asked for and there is no such load; 2 when
 * the file or the kernel cannot be found or read. Messages go to stderr. */
int wavesim_distances(const wavesim_distance_request* request);

#ifdef __cplusplus
}
#endif

#endif
