/**
 * What every root folder of a test's own has.
 *
 * @module
 */

/**
 * Shell commands, run by root in a mount namespace of its own. In `$root`, an empty file system, they show the system's
 * programs, read-only, with the processes and the devices that give away nothing.
 *
 * They leave `show SOURCE TARGET` behind, which shows another folder, read-only.
 */
export const SHOW_SYSTEM: string = `
show() { mkdir -p "$root$2"; mount --bind "$1" "$root$2"; mount -o remount,bind,ro "$root$2"; }
for folder in /bin /sbin /lib /lib32 /lib64; do
  if [ -L "$folder" ]; then cp -P "$folder" "$root$folder"; elif [ -d "$folder" ]; then show "$folder" "$folder"; fi
done
show /usr /usr
mkdir -p "$root/proc" "$root/dev"
mount --bind /proc "$root/proc"
for device in null zero full random urandom; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
`;
