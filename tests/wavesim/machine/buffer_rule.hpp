#pragma once

namespace wavesim {

/// Whether a raw buffer's range check includes soffset. Sources disagree; yes unless the
/// environment says WAVESIM_BUFFER_SOFFSET=unchecked. Correct programs do not depend on it.
bool buffer_soffset_checked();

/// Overrides the environment (for tests).
void set_buffer_soffset_checked(bool checked);

} // namespace wavesim
