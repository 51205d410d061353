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
    uint size6;
    uint size7;
    uint size8;
    uint size9;
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
struct Pace {
    uint live;
    uint first;
    float factor;
    float unit;
    float limit;
    float lr;
    float correction;
    float root_scale;
};
struct Moments {
    float beta1_;
    float fresh1_;
    float beta2_;
    float fresh2_;
};
struct type_7 {
    metal::float2 inner[256];
};
struct Hyper {
    Pace pace;
    Moments moments;
    float eps;
    float weight_decay;
    float trust_low;
    float trust_high;
    uint exclude;
};
struct Span {
    uint first;
    uint length;
};
typedef Hyper type_8[1];
typedef metal::float4 type_9[1];
typedef metal::float2 type_10[1];
typedef float type_11[1];
typedef Span type_12[1];
typedef metal::uint4 type_14[1];
constant uint WIDTH = 256u;

uint unfold(
    metal::uint3 group_3,
    metal::uint3 grid_3
) {
    return (group_3.y * grid_3.x) + group_3.x;
}

Tile tile_of(
    metal::uint3 group_4,
    metal::uint3 grid_4,
    device type_1 const& tiles,
    constant _mslBufferSizes& _buffer_sizes
) {
    uint _e2 = unfold(group_4, grid_4);
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

metal::float4 paced(
    Pace pace,
    metal::float4 grad
) {
    metal::float4 g = pace.factor * (pace.unit * grad);
    metal::bool4 over = metal::bool4(pace.limit > 0.0) & (metal::abs(g) > metal::float4(pace.limit));
    return metal::select(g, metal::sign(g) * pace.limit, over);
}

uint naga_div(uint lhs, uint rhs) {
    return lhs / metal::select(rhs, 1u, rhs == 0u);
}

metal::float2 sum_over_workgroup(
    uint lane_4,
    metal::float2 value,
    threadgroup type_7& sums
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
    threadgroup type_7& sums
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

metal::float4 direction(
    Hyper h,
    metal::float4 p,
    metal::float4 m,
    metal::float4 v
) {
    return ((m * h.pace.correction) / ((metal::sqrt(v) * h.pace.root_scale) + metal::float4(h.eps))) + (h.weight_decay * p);
}

metal::float4 param_at(
    Tile tile_1,
    uint k_1,
    device type_9 const& params,
    constant _mslBufferSizes& _buffer_sizes
) {
    metal::float4 _e6 = params[tile_1.param + k_1];
    return _e6;
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

metal::float4 grad_at(
    Tile tile_3,
    uint k_3,
    device type_14 const& grads,
    constant _mslBufferSizes& _buffer_sizes
) {
    metal::uint4 _e2 = grad_bits(tile_3, k_3, grads, _buffer_sizes);
    return as_type<metal::float4>(_e2);
}

void keep_param(
    Tile tile_4,
    uint k_4,
    metal::float4 p_1,
    device type_9& params,
    constant _mslBufferSizes& _buffer_sizes
) {
    params[tile_4.param + k_4] = p_1;
    return;
}

void set_copy(
    Tile tile_5,
    uint k_5,
    metal::float4 p_2
) {
    return;
}

void set_param(
    Tile tile_6,
    uint k_6,
    metal::float4 p_3,
    device type_9& params,
    constant _mslBufferSizes& _buffer_sizes
) {
    keep_param(tile_6, k_6, p_3, params, _buffer_sizes);
    set_copy(tile_6, k_6, p_3);
    return;
}

struct momentsInput {
};
[[max_total_threads_per_threadgroup(256)]] kernel void moments(
  metal::uint3 group [[threadgroup_position_in_grid]]
, metal::uint3 grid [[threadgroups_per_grid]]
, uint lane [[thread_index_in_threadgroup]]
, device type_1 const& tiles [[user(fake0)]]
, threadgroup type_7& sums
, device type_8 const& hypers [[user(fake0)]]
, device type_9& exp_avg [[user(fake0)]]
, device type_9& exp_avg_sq [[user(fake0)]]
, device type_10& partials [[user(fake0)]]
, device type_9 const& params [[user(fake0)]]
, device type_14 const& grads [[user(fake0)]]
, constant _mslBufferSizes& _buffer_sizes [[user(fake0)]]
) {
    if (lane == 0u) {
        sums = {};
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    metal::float2 squares = metal::float2(0.0);
    uint k = {};
    bool local = {};
    bool local_1 = {};
    Tile _e3 = tile_of(group, grid, tiles, _buffer_sizes);
    Hyper h_1 = hypers[_e3.segment];
    k = lane;
    uint2 loop_bound_2 = uint2(4294967295u);
    bool loop_init_2 = true;
    while(true) {
        if (metal::all(loop_bound_2 == uint2(0u))) { break; }
        loop_bound_2 -= uint2(loop_bound_2.y == 0u, 1u);
        if (!loop_init_2) {
            uint _e81 = k;
            k = _e81 + WIDTH;
        }
        loop_init_2 = false;
        if (h_1.pace.live == 1u) {
            uint _e18 = k;
            local = (_e18 * 4u) < _e3.length;
        } else {
            local = false;
        }
        bool _e24 = local;
        if (_e24) {
        } else {
            break;
        }
        {
            uint _e26 = k;
            uint i_1 = _e3.first + _e26;
            uint _e28 = k;
            metal::float4 _e29 = param_at(_e3, _e28, params, _buffer_sizes);
            uint _e31 = k;
            metal::float4 _e32 = grad_at(_e3, _e31, grads, _buffer_sizes);
            metal::float4 _e33 = paced(h_1.pace, _e32);
            metal::float4 _e38 = exp_avg[i_1];
            metal::float4 m_1 = (h_1.moments.beta1_ * _e38) + (h_1.moments.fresh1_ * _e33);
            metal::float4 _e48 = exp_avg_sq[i_1];
            metal::float4 v_1 = (h_1.moments.beta2_ * _e48) + (h_1.moments.fresh2_ * (_e33 * _e33));
            exp_avg[i_1] = m_1;
            exp_avg_sq[i_1] = v_1;
            uint _e64 = k;
            metal::bool4 within = (metal::uint4(0u, 1u, 2u, 3u) + metal::uint4(_e64 * 4u)) < metal::uint4(_e3.length);
            metal::float4 _e74 = direction(h_1, _e29, m_1, v_1);
            metal::float4 u = metal::select(metal::float4(0.0), _e74, within);
            metal::float2 _e76 = squares;
            squares = _e76 + metal::float2(metal::dot(_e29, _e29), metal::dot(u, u));
        }
    }
    metal::float2 _e84 = squares;
    metal::float2 _e85 = sum_over_workgroup(lane, _e84, sums);
    squares = _e85;
    if (lane == 0u) {
        local_1 = _e3.length > 0u;
    } else {
        local_1 = false;
    }
    bool _e94 = local_1;
    if (_e94) {
        metal::float2 _e98 = squares;
        partials[_e3.number] = _e98;
        return;
    } else {
        return;
    }
}


struct finishInput {
};
[[max_total_threads_per_threadgroup(256)]] kernel void finish(
  metal::uint3 group_1 [[threadgroup_position_in_grid]]
, metal::uint3 grid_1 [[threadgroups_per_grid]]
, uint lane_1 [[thread_index_in_threadgroup]]
, threadgroup type_7& sums
, device type_8 const& hypers [[user(fake0)]]
, device type_10 const& partials [[user(fake0)]]
, device type_11& trust [[user(fake0)]]
, device type_12 const& spans [[user(fake0)]]
, constant _mslBufferSizes& _buffer_sizes [[user(fake0)]]
) {
    if (lane_1 == 0u) {
        sums = {};
    }
    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    metal::float2 squares_1 = metal::float2(0.0);
    uint i = {};
    bool local_2 = {};
    bool local_3 = {};
    uint _e3 = unfold(group_1, grid_1);
    if (_e3 >= (1 + (_buffer_sizes.size7 - 0 - 8) / 8)) {
        return;
    }
    Hyper h_2 = hypers[_e3];
    Span span_2 = spans[_e3];
    i = lane_1;
    uint2 loop_bound_3 = uint2(4294967295u);
    bool loop_init_3 = true;
    while(true) {
        if (metal::all(loop_bound_3 == uint2(0u))) { break; }
        loop_bound_3 -= uint2(loop_bound_3.y == 0u, 1u);
        if (!loop_init_3) {
            uint _e28 = i;
            i = _e28 + WIDTH;
        }
        loop_init_3 = false;
        uint _e17 = i;
        if (_e17 < span_2.length) {
        } else {
            break;
        }
        {
            metal::float2 _e20 = squares_1;
            uint _e23 = i;
            metal::float2 _e26 = partials[span_2.first + _e23];
            squares_1 = _e20 + _e26;
        }
    }
    metal::float2 _e31 = squares_1;
    metal::float2 _e32 = sum_over_workgroup(lane_1, _e31, sums);
    squares_1 = _e32;
    if (lane_1 == 0u) {
        if (h_2.exclude == 0u) {
            float _e41 = squares_1.x;
            local_2 = _e41 > 0.0;
        } else {
            local_2 = false;
        }
        bool _e45 = local_2;
        if (_e45) {
            float _e49 = squares_1.y;
            local_3 = _e49 > 0.0;
        } else {
            local_3 = false;
        }
        bool known = local_3;
        float _e55 = squares_1.x;
        float _e58 = squares_1.y;
        float ratio = metal::clamp(metal::sqrt(_e55) / metal::sqrt(_e58), h_2.trust_low, h_2.trust_high);
        trust[_e3] = known ? ratio : 1.0;
        return;
    } else {
        return;
    }
}


struct applyInput {
};
[[max_total_threads_per_threadgroup(256)]] kernel void apply(
  metal::uint3 group_2 [[threadgroup_position_in_grid]]
, metal::uint3 grid_2 [[threadgroups_per_grid]]
, uint lane_2 [[thread_index_in_threadgroup]]
, device type_1 const& tiles [[user(fake0)]]
, device type_8 const& hypers [[user(fake0)]]
, device type_9 const& exp_avg [[user(fake0)]]
, device type_9 const& exp_avg_sq [[user(fake0)]]
, device type_11 const& trust [[user(fake0)]]
, device type_9& params [[user(fake0)]]
, constant _mslBufferSizes& _buffer_sizes [[user(fake0)]]
) {
    bool local_4 = {};
    Tile _e3 = tile_of(group_2, grid_2, tiles, _buffer_sizes);
    Hyper h_3 = hypers[_e3.segment];
    if (!((h_3.pace.live == 0u))) {
        bool _e15 = inside(_e3, lane_2);
        local_4 = !(_e15);
    } else {
        local_4 = true;
    }
    bool _e18 = local_4;
    if (_e18) {
        return;
    }
    uint i_2 = _e3.first + lane_2;
    metal::float4 _e21 = param_at(_e3, lane_2, params, _buffer_sizes);
    float _e27 = trust[_e3.segment];
    metal::float4 _e31 = exp_avg[i_2];
    metal::float4 _e34 = exp_avg_sq[i_2];
    metal::float4 _e35 = direction(h_3, _e21, _e31, _e34);
    set_param(_e3, lane_2, _e21 - ((h_3.pace.lr * _e27) * _e35), params, _buffer_sizes);
    return;
}
