import type { Follower } from './follow-calls.ts';
import { pathOf, textOf, type SystemCall } from './system-calls.ts';

type Work = (this: Follower, call: SystemCall) => void;

/** What each call does to the disk. */
export const CALLS: Readonly<Record<string, Work>> = {
  openat(call) {
    this.open(call, call.args[2] ?? '', call.args[3]);
  },
  creat(call) {
    this.open(call, 'O_CREAT|O_TRUNC', call.args[1]);
  },
  write(call) {
    this.write(call, undefined);
  },
  writev(call) {
    this.write(call, undefined);
  },
  pwrite64(call) {
    this.write(call, Number(call.args[3]));
  },
  pwritev(call) {
    this.write(call, Number(call.args[3]));
  },
  pwritev2(call) {
    this.write(call, Number(call.args[3]) < 0 ? undefined : Number(call.args[3]));
  },
  copy_file_range(call) {
    this.copy(call, call.args[0] ?? '', call.args[2] ?? '');
  },
  sendfile(call) {
    this.copy(call, call.args[1] ?? '', call.args[0] ?? '');
  },
  ftruncate(call) {
    this.resize(this.fileAt(call, call.args[0] ?? '').inode, Number(call.args[1]));
  },
  truncate(call) {
    this.resize(this.find(this.path(call, undefined, call.args[0] ?? '')), Number(call.args[1]));
  },
  fallocate(call) {
    this.lengthen(call);
  },
  lseek(call) {
    this.seek(call);
  },
  fsync(call) {
    this.sync(call, false);
  },
  fdatasync(call) {
    this.sync(call, true);
  },
  sync_file_range(call) {
    this.writeOut(call);
  },
  syncfs() {
    this.syncAll();
  },
  sync() {
    this.syncAll();
  },
  rename(call) {
    const [from = '', to = ''] = call.args;
    this.move(this.path(call, undefined, from), this.path(call, undefined, to));
  },
  renameat(call) {
    const [fromFolder, from = '', toFolder, to = ''] = call.args;
    this.move(this.path(call, fromFolder, from), this.path(call, toFolder, to));
  },
  renameat2(call) {
    CALLS['renameat']?.call(this, call);
  },
  link(call) {
    const [from = '', to = ''] = call.args;
    this.link(this.path(call, undefined, from), this.path(call, undefined, to));
  },
  linkat(call) {
    const [fromFolder, from = '', toFolder, to = ''] = call.args;
    this.link(this.path(call, fromFolder, from), this.path(call, toFolder, to));
  },
  symlink(call) {
    const [target = '', path = ''] = call.args;
    this.symbolic(textOf(target), this.path(call, undefined, path));
  },
  symlinkat(call) {
    const [target = '', folder, path = ''] = call.args;
    this.symbolic(textOf(target), this.path(call, folder, path));
  },
  unlink(call) {
    this.name(this.path(call, undefined, call.args[0] ?? ''), () => undefined);
  },
  rmdir(call) {
    this.name(this.path(call, undefined, call.args[0] ?? ''), () => undefined);
  },
  unlinkat(call) {
    this.name(this.path(call, call.args[0], call.args[1] ?? ''), () => undefined);
  },
  mkdir(call) {
    this.folder(this.path(call, undefined, call.args[0] ?? ''), call.args[1] ?? '755');
  },
  mkdirat(call) {
    this.folder(this.path(call, call.args[0], call.args[1] ?? ''), call.args[2] ?? '755');
  },
  chmod(call) {
    this.mode(this.find(this.path(call, undefined, call.args[0] ?? '')), call.args[1] ?? '');
  },
  fchmod(call) {
    this.mode(this.fileAt(call, call.args[0] ?? '').inode, call.args[1] ?? '');
  },
  fchmodat(call) {
    this.mode(this.find(this.path(call, call.args[0], call.args[1] ?? '')), call.args[2] ?? '');
  },
  dup(call) {
    this.duplicate(call);
  },
  dup2(call) {
    this.duplicate(call);
  },
  dup3(call) {
    this.duplicate(call);
  },
  fcntl(call) {
    if (call.args[1]?.startsWith('F_DUPFD') === true) this.duplicate(call);
  },
  chdir(call) {
    this.enter(call, this.path(call, undefined, call.args[0] ?? ''));
  },
  fchdir(call) {
    this.enter(call, pathOf(call.args[0] ?? '') ?? '/');
  },
  clone(call) {
    this.begin(call);
  },
  clone3(call) {
    this.begin(call);
  },
  fork(call) {
    this.begin(call);
  },
  vfork(call) {
    this.begin(call);
  },
};
