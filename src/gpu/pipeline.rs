//! From a rule's pass to a compiled kernel.

use super::device::{Gpu, lock};
use super::form::Form;
use crate::optim::Entry;
use crate::optim::rule::{Binding, Pass};
use std::borrow::Cow;

/// A shader by its stem and its WGSL.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shader {
    pub stem: &'static str,
    pub source: &'static str,
}

impl From<&'static Entry> for Shader {
    fn from(entry: &'static Entry) -> Self {
        Self { stem: entry.kind, source: entry.shader }
    }
}

/// Stem, entry point, and how parameters and gradients are reached.
pub(super) type Key = (&'static str, &'static str, Form);

/// A compiled entry point and what it binds.
#[derive(Debug, Clone)]
pub struct Kernel {
    pub(super) pipeline: wgpu::ComputePipeline,
    pub(super) layout: wgpu::BindGroupLayout,
}

fn layout_entry(binding: &Binding) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding: binding.number(),
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only: binding.read_only() },
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    }
}

/// Compiles a pass, or takes it from those compiled before on this device.
pub(super) fn kernel(gpu: &Gpu, shader: Shader, pass: &Pass, form: Form) -> Kernel {
    let mut kernels = lock(&gpu.kernels);
    kernels.entry((shader.stem, pass.entry, form)).or_insert_with(|| compile(gpu, shader, pass, form)).clone()
}

fn compile(gpu: &Gpu, shader: Shader, pass: &Pass, form: Form) -> Kernel {
    let label = format!("webgpu-optim.{}.{}", shader.stem, pass.entry);
    let label = Some(label.as_str());
    let source = wgpu::ShaderSource::Wgsl(Cow::Owned(form.complete(shader.source)));
    let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor { label, source });
    let entries: Vec<_> = pass.uses.iter().filter(|binding| form.binds(**binding)).map(layout_entry).collect();
    let layout = gpu.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries });
    let pipeline_layout = gpu.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label,
        bind_group_layouts: &[Some(&layout)],
        immediate_size: 0,
    });
    let pipeline = gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label,
        layout: Some(&pipeline_layout),
        module: &module,
        entry_point: Some(pass.entry),
        compilation_options: Default::default(),
        cache: None,
    });
    Kernel { pipeline, layout }
}
