// An engine whose host runs a helper that takes long: it is killed meanwhile, or ends without waiting for it.
import { join } from 'node:path';
import { startHelperHost } from '../../../../src/substrate/system/process/run-helper.ts';

const [temporary = '', how] = process.argv.slice(2);
// Nothing of the host keeps an engine alive.
setTimeout(() => undefined, 60_000);
const host = startHelperHost(temporary, () => undefined);
await host.started;
const script = `echo $$ >${join(temporary, 'pid')}; exec sleep 60`;
const env = { PATH: process.env['PATH'] ?? '' };
void host.run({ command: '/bin/sh', args: ['-c', script], cwd: '/', env, timeoutMs: 60_000 });
if (how !== 'SIGKILL') setTimeout(() => process.exit(0), 700);
