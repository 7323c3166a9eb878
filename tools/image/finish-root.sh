#!/bin/sh
# Called by mmdebstrap with the folder that the packages were unpacked into, their archives still beside them.
# Adds what the scripts of the packages would have made, since none of them runs.
set -eu

cd "$1"

printf '%s\n' 'root:x:0:0:root:/root:/usr/sbin/nologin' \
  'sallyport:x:65532:65532:sallyport:/var/lib/sallyport:/usr/sbin/nologin' >etc/passwd
printf '%s\n' 'root:x:0:' 'sallyport:x:65532:' >etc/group
# Without it, the C library asks the name server for localhost.
printf 'hosts: files dns\n' >etc/nsswitch.conf
chmod 644 etc/passwd etc/group etc/nsswitch.conf

# The form in which scanners for vulnerabilities find the packages of an image that has no dpkg.
mkdir -p var/lib/dpkg/status.d
for archive in var/cache/apt/archives/*.deb; do
  name=$(dpkg-deb --field "$archive" Package)
  dpkg-deb --field "$archive" >"var/lib/dpkg/status.d/$name"
done
