// Gives memory that was freed back to the system, which the process would otherwise keep for its next small values.
#pragma once

#include <cstdlib>  // defines __GLIBC__ where that is the library

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace forestcoll {

// Call this between two steps that need much memory, if the second needs large arrays. The system then makes them of
// the memory that the first step freed, so that the process never takes the memory of both.
inline void give_back_free_memory() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

}  // namespace forestcoll
