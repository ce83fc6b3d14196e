import { DISK } from './templates.ts';

/**
 * Imported by what starts agents in a cage, for tests in a process of their own. A cage has a /dev of its own: an agent in it sees
 * nothing of what others keep in memory there, so that nothing would be proved by what it leaves alone.
 */
const disk = process.env[DISK];
if (disk !== undefined) process.env['TMPDIR'] = disk;
