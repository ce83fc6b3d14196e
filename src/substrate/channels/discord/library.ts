import { loadPeer } from '../../system/load-peer.ts';

/** Loads the library of Discord's gateway, which only those have who asked for it. */
export async function loadLibrary() {
  return loadPeer(['@discordjs/ws'], 'a channel of Discord', async () => import('@discordjs/ws'));
}

export type Library = Awaited<ReturnType<typeof loadLibrary>>;
