// SPDX-License-Identifier: Apache-2.0
//! Scopes of opscope: begun by `scope!`, ended where the guard is dropped.

use std::os::raw::{c_char, c_int};
use std::sync::atomic::{AtomicU32, Ordering};

extern "C" {
    fn rust_osc_name(s: *const c_char, len: usize) -> u32;
    fn rust_osc_begin(kind: c_int, name: u32);
    fn rust_osc_end();
    fn rust_osc_arg_i64(key: u32, value: i64);
    fn rust_osc_is_on() -> c_int;
}

/// A name that is interned when it is first recorded.
pub struct Name {
    text: &'static str,
    id: AtomicU32,
}

impl Name {
    pub const fn new(text: &'static str) -> Name {
        Name { text, id: AtomicU32::new(0) }
    }

    fn id(&self) -> u32 {
        let known = self.id.load(Ordering::Relaxed);
        if known != 0 {
            return known;
        }
        // The bytes are copied.
        let id = unsafe { rust_osc_name(self.text.as_ptr().cast(), self.text.len()) };
        self.id.store(id, Ordering::Relaxed);
        id
    }
}

/// Ends its scope when it is dropped, on the thread where it began: it cannot be sent to another.
pub struct Scope {
    is_recorded: bool,
    _not_send: std::marker::PhantomData<*const ()>,
}

impl Scope {
    pub fn new(name: &Name) -> Scope {
        let is_recorded = unsafe { rust_osc_is_on() } != 0;
        if is_recorded {
            unsafe { rust_osc_begin(0, name.id()) };
        }
        Scope { is_recorded, _not_send: std::marker::PhantomData }
    }

    pub fn arg(&self, key: &Name, value: i64) {
        if self.is_recorded {
            unsafe { rust_osc_arg_i64(key.id(), value) };
        }
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        if self.is_recorded {
            unsafe { rust_osc_end() };
        }
    }
}

/// `let _scope = scope!("name", "key" => value);`
#[macro_export]
macro_rules! scope {
    ($name:literal $(, $key:literal => $value:expr)*) => {{
        static NAME: $crate::opscope::Name = $crate::opscope::Name::new($name);
        let scope = $crate::opscope::Scope::new(&NAME);
        $({
            static KEY: $crate::opscope::Name = $crate::opscope::Name::new($key);
            scope.arg(&KEY, $value);
        })*
        scope
    }};
}
