// One program for several GPUs, among them one of wave size 32.
// flags: --offload-arch=gfx942 --offload-arch=gfx90a
// flags: --offload-arch=gfx942 --offload-arch=gfx950
// flags: --offload-arch=gfx942 --offload-arch=gfx1100
#include "../instantiate.hpp"
