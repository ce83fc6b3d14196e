const LONG_RUNNING = ['run', 'resume', 'demo', 'team'];

/** Whether this process ends as soon as its command has. */
export const IS_SHORT = !LONG_RUNNING.includes(process.argv[2] ?? '');

// zod compiles each schema when it is first used, which pays off only after many uses. It has to know before schemas are made, and
// is not loaded for that, because many commands need no schema: this is where `z.config` keeps it.
if (IS_SHORT) Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
