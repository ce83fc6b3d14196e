import { fc } from '@fast-check/vitest';

// For mutation tests: property tests try the same inputs, under the same title, each time.
fc.configureGlobal({ seed: 1 });
