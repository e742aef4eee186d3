# Shared by the Makefiles of the native libraries: flags, and the proof that glibc 2.28 can load the result.
CC ?= gcc
OBJDUMP ?= $(if $(findstring aarch64,$(CC)),aarch64-linux-gnu-objdump,objdump)
COMMON := $(dir $(lastword $(MAKEFILE_LIST)))

BASE_CFLAGS = -std=gnu11 -Wall -Wextra -Werror -fPIC -fvisibility=hidden -O2 -g -D_GNU_SOURCE -I$(COMMON)
ifeq ($(SANITIZE),1)
BASE_CFLAGS += -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
endif
ifeq ($(SANITIZE),thread)
BASE_CFLAGS += -fsanitize=thread -fno-omit-frame-pointer
endif

# Named by file: new toolchains have only empty archives for -lpthread and -ldl, old systems need the libraries.
GLIBC_LIBS = -Wl,--no-as-needed -l:libpthread.so.0 -l:libdl.so.2 -Wl,--as-needed

# $(call glibc_check,LIBRARY): fails, naming the symbols, if any needs a glibc above 2.28.
glibc_check = @$(OBJDUMP) -T $(1) | grep -o 'GLIBC_[0-9.]*).*' | awk '{ v = $$1; sub(/GLIBC_/, "", v); sub(/\)/, "", v); \
	split(v, p, "."); if (p[1] > 2 || p[2] > 28) { print "needs glibc " v ": " $$0; bad = 1 } } END { exit bad }' \
	&& echo "$(1): loads with glibc 2.28"
