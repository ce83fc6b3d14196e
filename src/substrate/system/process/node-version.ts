import { wrongEnvironment } from '../../../model/errors.ts';

/** Below it the native SQLite module ends the process without a word. */
const NODE_API = 10;

/** Throws where this Node cannot load what squad needs. The command line checks it earlier, in `bin/squad.cjs`. */
export function refuseOldNode({ napi, node }: Partial<Pick<NodeJS.ProcessVersions, 'napi' | 'node'>>): void {
  if (Number(napi) >= NODE_API) return;
  throw wrongEnvironment(
    `Node ${node ?? 'of an unknown version'} cannot run squad: it needs Node 22.14 or newer`,
    'Start your application with a newer Node, such as 24.',
  );
}
