//! stub
use crate::error::Error;
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
/// stub
pub enum Schedule {
    /// stub
    Constant {
        /// stub
        lr: f64,
    },
}
impl Schedule {
    /// stub
    pub fn at(&self, _step: u64) -> f64 {
        let Self::Constant { lr } = self;
        *lr
    }
    /// stub
    pub fn check(&self) -> Result<(), Error> {
        Ok(())
    }
}
/// stub
#[derive(Debug)]
pub struct ReduceOnPlateau;
