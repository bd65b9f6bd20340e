// What a HIP file costs before it says anything.
