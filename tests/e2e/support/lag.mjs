// The promise that the tests hold the sidecar to: interval × (1 + jitter) + 1 s.
export const INTERVAL_MS = 1000;
export const JITTER = 0.1;
export const BOUND_MS = INTERVAL_MS * (1 + JITTER) + 1000;
