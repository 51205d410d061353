//! From [`Error`] to a real JavaScript `Error` with a stable `code`.

use crate::error::Error;
use js_sys::{Array, Function, Reflect};
use std::cell::RefCell;
use wasm_bindgen::prelude::*;

thread_local! {
    static CLASS: RefCell<Option<Function>> = const { RefCell::new(None) };
}

/// Names the class that errors are made of, called as `new Class(message, code)`.
#[wasm_bindgen(js_name = setErrorClass)]
pub fn set_error_class(
    #[wasm_bindgen(unchecked_param_type = "new (message: string, code: string) => Error")] class: Function,
) {
    CLASS.set(Some(class));
}

impl From<Error> for JsValue {
    fn from(error: Error) -> Self {
        let (message, code) = (JsValue::from(error.to_string()), JsValue::from(error.code()));
        let class = CLASS.with_borrow(Clone::clone);
        let made = class.and_then(|class| Reflect::construct(&class, &Array::of2(&message, &code)).ok());
        made.unwrap_or_else(|| {
            let plain = js_sys::Error::new(&error.to_string());
            let _ = Reflect::set(&plain, &"code".into(), &code);
            plain.into()
        })
    }
}
