import { z } from 'zod';

const LONG_RUNNING = ['run', 'resume', 'demo', 'dev', 'team'];

// zod compiles each schema when it is first used, which pays off only after many uses. It has to know before schemas are made.
if (!LONG_RUNNING.includes(process.argv[2] ?? '')) z.config({ jitless: true });
