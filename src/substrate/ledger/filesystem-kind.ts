import { readFileSync, realpathSync, statfsSync } from 'node:fs';

/** Filesystems that two machines can share, where a database in WAL mode is corrupted. The numbers are Linux' (statfs(2)). */
const NETWORK_MAGIC: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9p'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x5346414f, 'AFS'],
  [0x73757245, 'Coda'],
  [0x01161970, 'GFS2'],
  [0x7461636f, 'OCFS2'],
]);

const OVERLAY_MAGIC = 0x794c7630;

/** All FUSE filesystems, local ones too, share one number. The mount table tells them apart. */
const FUSE_MAGIC = 0x65735546;
const NETWORK_FUSE =
  /^fuse\.(sshfs|glusterfs|s3fs|rclone|davfs2?|curlftpfs|gcsfuse|goofys|mfs|ceph-fuse|juicefs|seaweedfs)$/;

/** The name of the network filesystem, or undefined for one that is safe. `mountType`: as /proc/self/mountinfo names it. */
export function networkFilesystem(magic: number, mountType: string | undefined): string | undefined {
  const unsigned = magic >>> 0;
  if (unsigned === FUSE_MAGIC) return mountType !== undefined && NETWORK_FUSE.test(mountType) ? mountType : undefined;
  return NETWORK_MAGIC.get(unsigned);
}

/** Type of the innermost mount that holds an absolute path. Format: proc(5), octal escapes for blanks. */
export function mountTypeOf(mountinfo: string, path: string): string | undefined {
  let best: { point: string; type: string } | undefined;
  for (const line of mountinfo.split('\n')) {
    const [before, after] = line.split(' - ');
    const escaped = before?.split(' ')[4];
    const type = after?.split(' ')[0];
    if (escaped === undefined || type === undefined) continue;
    const point = escaped.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
    const holds = path === point || path.startsWith(point.endsWith('/') ? point : `${point}/`);
    // A later line covers an earlier one of the same point.
    if (holds && (best === undefined || point.length >= best.point.length)) best = { point, type };
  }
  return best?.type;
}

/** As `networkFilesystem`, of an existing folder. */
export function readNetworkFilesystem(directory: string): string | undefined {
  const { type } = statfsSync(directory);
  return networkFilesystem(type, type >>> 0 === FUSE_MAGIC ? readMountType(directory) : undefined);
}

/** Whether an existing folder is on a layer that goes when its container does. */
export function isContainerLayer(directory: string): boolean {
  return statfsSync(directory).type >>> 0 === OVERLAY_MAGIC;
}

function readMountType(directory: string): string | undefined {
  try {
    return mountTypeOf(readFileSync('/proc/self/mountinfo', 'utf8'), realpathSync(directory));
  } catch {
    // No such table on this system: a FUSE folder that cannot be named is taken for a local one.
    return undefined;
  }
}
