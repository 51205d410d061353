// language: metal2.4
#include <metal_stdlib>
#include <simd/simd.h>

using metal::uint;

struct _mslBufferSizes {
    uint size0;
    uint size2;
    uint size3;
    uint size4;
    uint size5;
    uint size7;
    uint size8;
    uint size9;
    uint size10;
    uint size13;
};

struct Tile {
    uint segment;
    uint first;
    uint length;
    uint number;
    uint param;
    uint grad;
    uint copy;
};
typedef Tile type_1[1];
struct type_8 {
    metal::float2 inner[256];
};
struct Sum {
    metal::float2 norm;
    float inverse;
    float unit;
};
typedef uint type_10[1];
typedef metal::float2 type_11[1];
typedef metal::uint2 type_13[1];
struct Settings {
    uint clip;
    float bound;
    uint skips;
    float growth_factor;
    float backoff_factor;
    uint growth_interval;
    float lowest;
    float highest;
    uint stride;
    uint tensors;
    uint groups;
    float fresh;
    uint warmup;
    uint history;
};
typedef metal::uint4 type_14[1];
struct Plan {
    uint group;
    uint seeds;
    float sign;
    float ln_beta1_;
    float ln_beta2_;
    float lr_decay;
};
struct Standing {
    float scale;
    uint taken;
    uint skipped;
    uint good;
    uint found;
    float largest;
    float root;
    float clip_factor;
    float divisor;
};
struct Count {
    uint steps;
    uint seeded;
};
typedef Plan type_15[1];
typedef float type_16[1];
typedef Count type_17[1];
typedef metal::float4 type_18[1];
constant uint WIDTH = 256u;
constant uint RING = 4096u;

uint unfold(
    metal::uint3 group_2,
    metal::uint3 grid_2
) {
    return (group_2.y * grid_2.x) + group_2.x;
}

Tile tile_of(
    metal::uint3 group_3,
    metal::uint3 grid_3,
    device type_1 const& tiles,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e2 = unfold(group_3, grid_3);
    if (_e2 >= (1 + (_buffer_sizes.size0 - 0 - 28) / 28)) {
        return Tile {};
    }
    Tile _e9 = tiles[_e2];
    return _e9;
}

bool inside(
    Tile tile,
    uint lane_3
) {
    return (lane_3 * 4u) < tile.length;
}

metal::bool4 finite(
    metal::uint4 bits
) {
    return (bits & metal::uint4(2139095040u)) != metal::uint4(2139095040u);
}

uint naga_div(uint lhs, uint rhs) {
    return lhs / metal::select(rhs, 1u, rhs == 0u);
}

metal::float2 sum_over_workgroup(
    uint lane_4,
    metal::float2 value,
    threadgroup type_8& sums
) {
    uint span = 128u;
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    sums.inner[lane_4] = value;
    uint2 loop_bound = uint2(4294967295u);
    bool loop_init = true;
    while(true) {
        if (metal::all(loop_bound == uint2(0u))) { break; }
        loop_bound -= uint2(loop_bound.y == 0u, 1u);
        if (!loop_init) {
            uint _e20 = span;
            span = naga_div(_e20, 2u);
        }
        loop_init = false;
        uint _e6 = span;
        if (_e6 > 0u) {
        } else {
            break;
        }
        {
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            uint _e9 = span;
            if (lane_4 < _e9) {
                metal::float2 _e13 = sums.inner[lane_4];
                uint _e15 = span;
                metal::float2 _e18 = sums.inner[lane_4 + _e15];
                sums.inner[lane_4] = _e13 + _e18;
            }
        }
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    metal::float2 _e25 = sums.inner[0];
    return _e25;
}

metal::float2 max_over_workgroup(
    uint lane_5,
    metal::float2 value_1,
    threadgroup type_8& sums
) {
    uint span_1 = 128u;
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    sums.inner[lane_5] = value_1;
    uint2 loop_bound_1 = uint2(4294967295u);
    bool loop_init_1 = true;
    while(true) {
        if (metal::all(loop_bound_1 == uint2(0u))) { break; }
        loop_bound_1 -= uint2(loop_bound_1.y == 0u, 1u);
        if (!loop_init_1) {
            uint _e22 = span_1;
            span_1 = naga_div(_e22, 2u);
        }
        loop_init_1 = false;
        uint _e6 = span_1;
        if (_e6 > 0u) {
        } else {
            break;
        }
        {
            metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
            uint _e9 = span_1;
            if (lane_5 < _e9) {
                metal::float2 _e15 = sums.inner[lane_5];
                uint _e17 = span_1;
                metal::float2 _e20 = sums.inner[lane_5 + _e17];
                sums.inner[lane_5] = metal::max(_e15, _e20);
            }
        }
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    metal::float2 _e27 = sums.inner[0];
    return _e27;
}

float unit_for(
    float divisor
) {
    return (divisor > 1000000000000000000000000000000.0) ? 0.00000000000000000005421011 : 1.0;
}

float squares_of(
    metal::float2 norm
) {
    return (norm.y < 0.0) ? (-1.0 - norm.y) : norm.y;
}

float rescaled(
    metal::float2 norm_1,
    float largest
) {
    if (norm_1.x < 0.000000000000000000000000000000000000012) {
        return 0.0;
    }
    float _e6 = unit_for(largest);
    float part = (norm_1.x * _e6) / (largest * _e6);
    float _e11 = squares_of(norm_1);
    return (_e11 * part) * part;
}

metal::float2 marked(
    float largest_1,
    float squares,
    bool bad_1
) {
    return metal::float2(largest_1, bad_1 ? (-1.0 - squares) : squares);
}

Sum add_squares(
    Sum sum_2,
    metal::float4 g
) {
    Sum now = {};
    bool local_4 = {};
    now = sum_2;
    float largest_3 = metal::max(metal::max(g.x, g.y), metal::max(g.z, g.w));
    float _e12 = now.norm.x;
    if (largest_3 > _e12) {
        local_4 = largest_3 >= 0.000000000000000000000000000000000000012;
    } else {
        local_4 = false;
    }
    bool _e19 = local_4;
    if (_e19) {
        metal::float2 _e22 = now.norm;
        float _e23 = rescaled(_e22, largest_3);
        now.norm = metal::float2(largest_3, _e23);
        float _e26 = unit_for(largest_3);
        now.unit = _e26;
        float _e29 = now.unit;
        now.inverse = 1.0 / (largest_3 * _e29);
    }
    float _e34 = now.unit;
    float _e37 = now.inverse;
    metal::float4 part_1 = (g * _e34) * _e37;
    float _e41 = now.norm.y;
    now.norm.y = _e41 + metal::dot(part_1, part_1);
    Sum _e44 = now;
    return _e44;
}

metal::bool4 within(
    Tile tile_1,
    uint k_1
) {
    return (metal::uint4(0u, 1u, 2u, 3u) + metal::uint4(k_1 * 4u)) < metal::uint4(tile_1.length);
}

metal::uint4 grad_bits(
    Tile tile_2,
    uint k_2,
    device type_14 const& grads,
    constant _mslBufferSizes& _buffer_sizes
) {
    metal::uint4 _e6 = grads[tile_2.grad + k_2];
    return _e6;
}

float one_minus_exp(
    float x
) {
    float sum_3 = 1.0;
    float n = 10.0;
    if (x < -0.5) {
        return 1.0 - metal::exp(metal::max(x, -100.0));
    }
    uint2 loop_bound_2 = uint2(4294967295u);
    bool loop_init_2 = true;
    while(true) {
        if (metal::all(loop_bound_2 == uint2(0u))) { break; }
        loop_bound_2 -= uint2(loop_bound_2.y == 0u, 1u);
        if (!loop_init_2) {
            float _e21 = n;
            n = _e21 - 1.0;
        }
        loop_init_2 = false;
        float _e12 = n;
        if (_e12 > 1.0) {
        } else {
            break;
        }
        {
            float _e15 = n;
            float _e17 = sum_3;
            sum_3 = 1.0 + ((x / _e15) * _e17);
        }
    }
    float _e25 = sum_3;
    return -(x) * _e25;
}

metal::float2 coefficient(
    float largest_2,
    float root,
    device Settings const& settings
) {
    if (largest_2 > 1000000000000000000000000000000.0) {
        float _e6 = settings.bound;
        return metal::float2(metal::min(18446744000000000000.0, (_e6 / (largest_2 * 0.00000000000000000005421011)) / root), 0.00000000000000000005421011);
    }
    float _e17 = settings.bound;
    return metal::float2(metal::min(1.0, _e17 / ((largest_2 * root) + 0.000001)), 1.0);
}

uint naga_mod(uint lhs, uint rhs) {
    return lhs % metal::select(rhs, 1u, rhs == 0u);
}

uint rate_row(
    Standing before
) {
    uint asked = before.taken + before.skipped;
    return naga_mod(metal::max(before.taken, asked - metal::min(asked, 4095u)), RING);
}

void write_pace(
    uint at,
    Plan plan,
    Count count,
    float lr,
    metal::float2 factor,
    device type_10& rows,
    device Settings const& settings,
    constant _mslBufferSizes& _buffer_sizes
) {
    float t = static_cast<float>(count.steps + 1u);
    rows[at] = 1u;
    rows[at + 1u] = 1u - count.seeded;
    rows[at + 2u] = as_type<uint>(plan.sign * factor.x);
    rows[at + 3u] = as_type<uint>(factor.y);
    float _e39 = settings.bound;
    uint _e42 = settings.clip;
    rows[at + 4u] = as_type<uint>((_e42 == 3u) ? _e39 : 0.0);
    rows[at + 5u] = as_type<uint>(lr / (1.0 + ((t - 1.0) * plan.lr_decay)));
    float _e66 = one_minus_exp(t * plan.ln_beta1_);
    rows[at + 6u] = as_type<uint>(1.0 / _e66);
    float _e76 = one_minus_exp(t * plan.ln_beta2_);
    rows[at + 7u] = as_type<uint>(1.0 / metal::sqrt(_e76));
    return;
}

Standing scaled_after(
    Standing before_1,
    bool found,
    device Settings const& settings
) {
    Standing after_1 = {};
    after_1 = before_1;
    after_1.good = found ? 0u : (before_1.good + 1u);
    if (found) {
        float _e13 = settings.backoff_factor;
        float _e17 = settings.lowest;
        after_1.scale = metal::max(before_1.scale * _e13, _e17);
    }
    uint _e20 = after_1.good;
    uint _e23 = settings.growth_interval;
    if (_e20 == _e23) {
        float _e29 = settings.growth_factor;
        float _e33 = settings.highest;
        after_1.scale = metal::min(before_1.scale * _e29, _e33);
        after_1.good = 0u;
    }
    Standing _e37 = after_1;
    return _e37;
}

float share_after(
    uint taken,
    device Settings const& settings
) {
    bool local_5 = {};
    float t_1 = static_cast<float>(taken);
    float _e4 = settings.fresh;
    float _e7 = settings.fresh;
    uint _e15 = settings.warmup;
    if (_e15 == 1u) {
        float _e22 = settings.fresh;
        local_5 = _e22 > 0.0;
    } else {
        local_5 = false;
    }
    bool _e26 = local_5;
    return _e26 ? metal::max(_e7, 9.0 / (10.0 + t_1)) : _e4;
}

metal::float4 param_at(
    Tile tile_3,
    uint k_3,
    device type_18 const& params,
    constant _mslBufferSizes& _buffer_sizes
) {
    metal::float4 _e6 = params[tile_3.param + k_3];
    return _e6;
}

void keep_param(
    Tile tile_4,
    uint k_4,
    metal::float4 p,
    device type_18& params,
    constant _mslBufferSizes& _buffer_sizes
) {
    params[tile_4.param + k_4] = p;
    return;
}

void set_copy(
    Tile tile_5,
    uint k_5,
    metal::float4 p_1
) {
    return;
}

void set_param(
    Tile tile_6,
    uint k_6,
    metal::float4 p_2,
    device type_18& params,
    constant _mslBufferSizes& _buffer_sizes
) {
    keep_param(tile_6, k_6, p_2, params, _buffer_sizes);
    set_copy(tile_6, k_6, p_2);
    return;
}

metal::float4 grad_at(
    Tile tile_7,
    uint k_7,
    device type_14 const& grads,
    constant _mslBufferSizes& _buffer_sizes
) {
    metal::uint4 _e2 = grad_bits(tile_7, k_7, grads, _buffer_sizes);
    return as_type<metal::float4>(_e2);
}

struct block_normInput {
};
[[max_total_threads_per_threadgroup(256)]] kernel void block_norm(
  metal::uint3 group [[threadgroup_position_in_grid]]
, metal::uint3 grid [[threadgroups_per_grid]]
, uint lane [[thread_index_in_threadgroup]]
, device type_1 const& tiles [[user(fake0)]]
, threadgroup type_8& sums
, device type_10 const& rows [[user(fake0)]]
, device type_11& partials [[user(fake0)]]
, device Settings const& settings [[user(fake0)]]
, device type_14 const& grads [[user(fake0)]]
, constant _mslBufferSizes& _buffer_sizes [[user(fake0)]]
) {
    if (lane == 0u) {
        sums = {};
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    Sum own = Sum {metal::float2(0.0), 0.0, 1.0};
    bool bad = false;
    uint k = {};
    bool local = {};
    bool local_1 = {};
    bool local_2 = {};
    Tile _e3 = tile_of(group, grid, tiles, _buffer_sizes);
    uint _e8 = settings.stride;
    uint _e11 = rows[_e3.segment * _e8];
    bool live = _e11 == 1u;
    k = lane;
    uint2 loop_bound_3 = uint2(4294967295u);
    bool loop_init_3 = true;
    while(true) {
        if (metal::all(loop_bound_3 == uint2(0u))) { break; }
        loop_bound_3 -= uint2(loop_bound_3.y == 0u, 1u);
        if (!loop_init_3) {
            uint _e55 = k;
            k = _e55 + WIDTH;
        }
        loop_init_3 = false;
        if (live) {
            uint _e25 = k;
            local = (_e25 * 4u) < _e3.length;
        } else {
            local = false;
        }
        bool _e31 = local;
        if (_e31) {
        } else {
            break;
        }
        {
            uint _e32 = k;
            metal::uint4 _e33 = grad_bits(_e3, _e32, grads, _buffer_sizes);
            uint _e34 = k;
            metal::bool4 _e35 = within(_e3, _e34);
            bool _e36 = bad;
            if (!(_e36)) {
                metal::bool4 _e40 = finite(_e33);
                local_1 = metal::any(!(_e40) & _e35);
            } else {
                local_1 = true;
            }
            bool _e45 = local_1;
            bad = _e45;
            Sum _e46 = own;
            metal::bool4 _e50 = finite(_e33);
            Sum _e54 = add_squares(_e46, metal::abs(metal::select(metal::float4(0.0), as_type<metal::float4>(_e33), _e50 & _e35)));
            own = _e54;
        }
    }
    float _e60 = own.norm.x;
    bool _e61 = bad;
    metal::float2 _e64 = max_over_workgroup(lane, metal::float2(_e60, static_cast<float>(_e61)), sums);
    metal::float2 _e66 = own.norm;
    float _e68 = rescaled(_e66, _e64.x);
    metal::float2 _e71 = sum_over_workgroup(lane, metal::float2(_e68, 0.0), sums);
    if (lane == 0u) {
        local_2 = _e3.length > 0u;
    } else {
        local_2 = false;
    }
    bool _e80 = local_2;
    if (_e80) {
        metal::float2 _e89 = marked(_e64.x, _e71.x, _e64.y > 0.0);
        partials[_e3.number] = _e89;
        return;
    } else {
        return;
    }
}


struct tensor_normInput {
};
[[max_total_threads_per_threadgroup(256)]] kernel void tensor_norm(
  metal::uint3 group_1 [[threadgroup_position_in_grid]]
, metal::uint3 grid_1 [[threadgroups_per_grid]]
, uint lane_1 [[thread_index_in_threadgroup]]
, threadgroup type_8& sums
, device type_10 const& rows [[user(fake0)]]
, device type_11 const& partials [[user(fake0)]]
, device type_13 const& spans [[user(fake0)]]
, device type_11& norms [[user(fake0)]]
, device Settings const& settings [[user(fake0)]]
, constant _mslBufferSizes& _buffer_sizes [[user(fake0)]]
) {
    if (lane_1 == 0u) {
        sums = {};
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    metal::float2 top = metal::float2(0.0);
    uint i = {};
    float sum = 0.0;
    uint i_1 = {};
    uint _e3 = unfold(group_1, grid_1);
    uint _e6 = settings.tensors;
    if (_e3 >= _e6) {
        return;
    }
    metal::uint2 _e12 = spans[_e3];
    uint _e16 = settings.stride;
    uint _e19 = rows[_e3 * _e16];
    metal::uint2 span_2 = (_e19 == 1u) ? _e12 : metal::uint2(0u);
    i = lane_1;
    uint2 loop_bound_4 = uint2(4294967295u);
    bool loop_init_4 = true;
    while(true) {
        if (metal::all(loop_bound_4 == uint2(0u))) { break; }
        loop_bound_4 -= uint2(loop_bound_4.y == 0u, 1u);
        if (!loop_init_4) {
            uint _e44 = i;
            i = _e44 + WIDTH;
        }
        loop_init_4 = false;
        uint _e27 = i;
        if (_e27 < span_2.y) {
        } else {
            break;
        }
        {
            uint _e32 = i;
            metal::float2 norm_2 = partials[span_2.x + _e32];
            metal::float2 _e36 = top;
            top = metal::max(_e36, metal::float2(norm_2.x, static_cast<float>(norm_2.y < 0.0)));
        }
    }
    metal::float2 _e47 = top;
    metal::float2 _e48 = max_over_workgroup(lane_1, _e47, sums);
    top = _e48;
    i_1 = lane_1;
    uint2 loop_bound_5 = uint2(4294967295u);
    bool loop_init_5 = true;
    while(true) {
        if (metal::all(loop_bound_5 == uint2(0u))) { break; }
        loop_bound_5 -= uint2(loop_bound_5.y == 0u, 1u);
        if (!loop_init_5) {
            uint _e66 = i_1;
            i_1 = _e66 + WIDTH;
        }
        loop_init_5 = false;
        uint _e52 = i_1;
        if (_e52 < span_2.y) {
        } else {
            break;
        }
        {
            float _e55 = sum;
            uint _e58 = i_1;
            metal::float2 _e61 = partials[span_2.x + _e58];
            float _e63 = top.x;
            float _e64 = rescaled(_e61, _e63);
            sum = _e55 + _e64;
        }
    }
    float _e69 = sum;
    metal::float2 _e72 = sum_over_workgroup(lane_1, metal::float2(_e69, 0.0), sums);
    if (lane_1 == 0u) {
        float _e78 = top.x;
        float _e81 = top.y;
        metal::float2 _e84 = marked(_e78, _e72.x, _e81 > 0.0);
        norms[_e3] = _e84;
        return;
    } else {
        return;
    }
}

uint naga_f2u32(float value) {
    return static_cast<uint>(metal::clamp(value, 0.0, 4294967000.0));
}


struct prepareInput {
};
[[max_total_threads_per_threadgroup(256)]] kernel void prepare(
  uint lane_2 [[thread_index_in_threadgroup]]
, threadgroup type_8& sums
, device type_10& rows [[user(fake0)]]
, device type_11 const& norms [[user(fake0)]]
, device Settings const& settings [[user(fake0)]]
, device type_15 const& plans [[user(fake0)]]
, device type_16 const& rates [[user(fake0)]]
, device type_17& counts [[user(fake0)]]
, device Standing& standing [[user(fake0)]]
, device float& share [[user(fake0)]]
, constant _mslBufferSizes& _buffer_sizes [[user(fake0)]]
) {
    if (lane_2 == 0u) {
        sums = {};
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    metal::float2 top_1 = metal::float2(0.0);
    uint i_2 = {};
    float sum_1 = 0.0;
    uint i_3 = {};
    bool local_3 = {};
    uint i_4 = {};
    Standing after = {};
    Standing before_2 = standing;
    i_2 = lane_2;
    uint2 loop_bound_6 = uint2(4294967295u);
    bool loop_init_6 = true;
    while(true) {
        if (metal::all(loop_bound_6 == uint2(0u))) { break; }
        loop_bound_6 -= uint2(loop_bound_6.y == 0u, 1u);
        if (!loop_init_6) {
            uint _e28 = i_2;
            i_2 = _e28 + WIDTH;
        }
        loop_init_6 = false;
        uint _e7 = i_2;
        uint _e10 = settings.tensors;
        if (_e7 < _e10) {
        } else {
            break;
        }
        {
            metal::float2 _e12 = top_1;
            uint _e14 = i_2;
            float _e17 = norms[_e14].x;
            uint _e19 = i_2;
            float _e22 = norms[_e19].y;
            top_1 = metal::max(_e12, metal::float2(_e17, static_cast<float>(_e22 < 0.0)));
        }
    }
    metal::float2 _e31 = top_1;
    metal::float2 _e32 = max_over_workgroup(lane_2, _e31, sums);
    top_1 = _e32;
    i_3 = lane_2;
    uint2 loop_bound_7 = uint2(4294967295u);
    bool loop_init_7 = true;
    while(true) {
        if (metal::all(loop_bound_7 == uint2(0u))) { break; }
        loop_bound_7 -= uint2(loop_bound_7.y == 0u, 1u);
        if (!loop_init_7) {
            uint _e50 = i_3;
            i_3 = _e50 + WIDTH;
        }
        loop_init_7 = false;
        uint _e36 = i_3;
        uint _e39 = settings.tensors;
        if (_e36 < _e39) {
        } else {
            break;
        }
        {
            float _e41 = sum_1;
            uint _e43 = i_3;
            metal::float2 _e45 = norms[_e43];
            float _e47 = top_1.x;
            float _e48 = rescaled(_e45, _e47);
            sum_1 = _e41 + _e48;
        }
    }
    float _e53 = sum_1;
    metal::float2 _e56 = sum_over_workgroup(lane_2, metal::float2(_e53, 0.0), sums);
    float root_1 = metal::sqrt(_e56.x);
    float _e60 = top_1.y;
    if (_e60 > 0.0) {
        uint _e67 = settings.skips;
        local_3 = _e67 == 1u;
    } else {
        local_3 = false;
    }
    bool skip = local_3;
    float _e75 = top_1.x;
    metal::float2 _e78 = coefficient(_e75 / before_2.scale, root_1, settings);
    uint _e81 = settings.clip;
    metal::float2 global = (_e81 == 1u) ? _e78 : metal::float2(1.0);
    i_4 = lane_2;
    uint2 loop_bound_8 = uint2(4294967295u);
    bool loop_init_8 = true;
    while(true) {
        if (metal::all(loop_bound_8 == uint2(0u))) { break; }
        loop_bound_8 -= uint2(loop_bound_8.y == 0u, 1u);
        if (!loop_init_8) {
            uint _e179 = i_4;
            i_4 = _e179 + WIDTH;
        }
        loop_init_8 = false;
        uint _e86 = i_4;
        uint _e89 = settings.tensors;
        if (_e86 < _e89) {
        } else {
            break;
        }
        {
            uint _e91 = i_4;
            uint _e94 = settings.stride;
            uint at_1 = _e91 * _e94;
            uint _e98 = rows[at_1];
            if (_e98 == 0u) {
                continue;
            }
            if (skip) {
                rows[at_1] = 0u;
                continue;
            }
            uint _e107 = i_4;
            float _e110 = norms[_e107].x;
            uint _e114 = i_4;
            metal::float2 _e116 = norms[_e114];
            float _e117 = squares_of(_e116);
            metal::float2 _e119 = coefficient(_e110 / before_2.scale, metal::sqrt(_e117), settings);
            uint _e122 = settings.clip;
            metal::float2 own_1 = (_e122 == 2u) ? _e119 : metal::float2(1.0);
            uint _e127 = rate_row(before_2);
            uint _e130 = settings.groups;
            uint _e133 = i_4;
            uint _e136 = plans[_e133].group;
            float lr_1 = rates[(_e127 * _e130) + _e136];
            uint _e141 = i_4;
            Plan _e143 = plans[_e141];
            uint _e145 = i_4;
            Count _e147 = counts[_e145];
            write_pace(at_1, _e143, _e147, lr_1, metal::float2((global.x * own_1.x) / before_2.scale, global.y * own_1.y), rows, settings, _buffer_sizes);
            uint _e158 = i_4;
            uint _e161 = i_4;
            uint _e164 = counts[_e161].steps;
            uint _e168 = i_4;
            uint _e171 = counts[_e168].seeded;
            uint _e173 = i_4;
            uint _e176 = plans[_e173].seeds;
            counts[_e158] = Count {_e164 + 1u, metal::max(_e171, _e176)};
        }
    }
    if (lane_2 == 0u) {
        float _e185 = top_1.y;
        Standing _e188 = scaled_after(before_2, _e185 > 0.0, settings);
        after = _e188;
        uint _e191 = after.taken;
        after.taken = _e191 + (skip ? 0u : 1u);
        uint _e197 = after.skipped;
        after.skipped = _e197 + (skip ? 1u : 0u);
        float _e204 = top_1.y;
        after.found = naga_f2u32(_e204);
        float _e208 = top_1.x;
        after.largest = _e208 / before_2.scale;
        after.root = root_1;
        after.clip_factor = global.x * global.y;
        after.divisor = before_2.scale;
        Standing _e219 = after;
        standing = _e219;
        uint _e222 = after.taken;
        float _e223 = share_after(_e222, settings);
        share = skip ? 0.0 : _e223;
        return;
    } else {
        return;
    }
}
